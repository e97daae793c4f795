#include "server/ranking/explainer.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/nn/clsm_tower.h"
#include "model/nn/cosine_scorer.h"
#include "model/text/known_features.h"
#include "model/text/normalizer.h"
#include "server/base/errors.h"
#include "server/vectors/part_scorer.h"
#include "server/vectors/text_batch.h"

// The contribution of a shared n-gram is exact, because the lexical part is a
// sum over the buckets of n-grams. The contribution of a word is a difference:
// the score minus the score of the text without that word, which is embedded
// again. The semantic part is not a sum over words, so these differences need
// not add up to it.
namespace semrank {
namespace {

// Returns the `max_units` most active units, most active first, equal ones in
// order. Empty for a text without words and for towers without a pooling layer.
std::vector<PoolingWinner> FindPoolingWinners(const TwoTowerModel& model,
                                              Side side,
                                              std::string_view normalized,
                                              std::uint32_t max_units) {
  const auto* const tower = dynamic_cast<const ClsmTower*>(&model.tower(side));
  // Only CLSM pools over positions.
  if (tower == nullptr) return {};
  EmbedScratch scratch;
  tower->AppendText(model.featurizer(), normalized, scratch.input);
  const std::vector<PooledUnit> pooled =
      tower->PoolText(scratch.input, 0, scratch.tower);

  std::vector<std::uint32_t> units(pooled.size());
  std::iota(units.begin(), units.end(), 0);
  // Stable, so that units with equal activations keep their order in every run.
  std::ranges::stable_sort(units, std::greater<>(), [&](std::uint32_t unit) {
    return pooled[unit].activation;
  });
  units.resize(std::min<std::size_t>(units.size(), max_units));

  std::vector<absl::string_view> words;
  ForEachWord(normalized,
              [&](std::string_view word) { words.push_back(ToAbsl(word)); });
  // The window is centred on the word; what lies outside the text is padding.
  const int half = tower->window() / 2;
  std::vector<PoolingWinner> winners;
  for (const std::uint32_t unit : units) {
    const int position = pooled[unit].word;
    const auto first = words.begin() + std::max(position - half, 0);
    const auto last = words.begin() + std::min(position + half + 1,
                                               static_cast<int>(words.size()));
    winners.push_back(
        {unit, pooled[unit].activation, static_cast<std::uint32_t>(position),
         std::string(words[position]), absl::StrJoin(first, last, " ")});
  }
  return winners;
}

constexpr std::uint32_t kDefaultPoolingUnits = 5;

std::vector<WordContribution> SplitWords(std::string_view text) {
  std::vector<WordContribution> words;
  ForEachWord(text, [&](std::string_view word) {
    words.push_back({.word = std::string(word)});
  });
  return words;
}

std::size_t CountWords(std::string_view text) {
  std::size_t num_words = 0;
  ForEachWord(text, [&](std::string_view) { ++num_words; });
  return num_words;
}

// The features of a word by itself, so that a client can see which words the
// model does not know.
void CountFeatures(const Featurizer& featurizer, WordContribution& word) {
  const KnownFeatures known = CountKnownFeatures(featurizer, word.word);
  word.num_features =
      known.num_ngrams + (featurizer.words().has_value() ? 1 : 0);
  word.num_known_features = known.num_known_ngrams + known.num_listed_words;
}

// `text` without `word`, a part of it, and without one of the blanks beside it.
std::string Without(std::string_view text, std::string_view word) {
  // A search would find the first occurrence of the word, and not this one.
  auto begin = static_cast<std::size_t>(word.data() - text.data());
  std::size_t end = begin + word.size();
  if (end < text.size() && text[end] == ' ') {
    ++end;
  } else if (begin > 0 && text[begin - 1] == ' ') {
    --begin;
  }
  return std::string(text.substr(0, begin)).append(text.substr(end));
}

// Appends a text for each of words [first, last) of `text`: all words without
// that one. Other occurrences of the omitted word stay.
void AddVariants(std::string_view text, std::size_t first, std::size_t last,
                 TextBatch& variants) {
  std::size_t number = 0;
  ForEachWord(text, [&](std::string_view word) {
    if (number >= first && number < last) {
      variants.AddNormalized(Without(text, word));
    }
    ++number;
  });
}

struct TextView {
  std::string_view normalized;
  const float* row = nullptr;
};

// Scores a pair as CandidateScorer does.
ScoreParts ScorePair(const TwoTowerModel& model, ModelParts parts,
                     TextView query, TextView title) {
  ScoreParts result;
  const std::span<float> score(&result.score, 1);
  ScoreMatrix(query.row, title.row, model.embedding_dim(), score);
  TextBatch titles;
  titles.AddNormalized(title.normalized);
  AddSparseScores(model, query.normalized, titles, score);
  if (model.lexical() == nullptr) {
    result.semantic = result.score;
    return result;
  }
  thread_local PartScorer scorer;
  LexicalBatch entries;
  model.lexical()->AppendText(query.normalized, entries);
  scorer.Begin(model, {.parts = parts, .with_parts = true}, entries[0]);
  const float cosine = scorer.LexicalCosineOf(title.normalized);
  result.semantic = scorer.Combine(result.score, 0);
  result.lexical = scorer.Combine(0, cosine);
  // Rank makes the same operations in the same order, so the bits are the same.
  result.score = scorer.Combine(result.score, cosine);
  return result;
}

std::vector<std::uint32_t> BucketsOf(const LexicalPart& lexical,
                                     std::string_view text) {
  std::vector<std::uint32_t> buckets;
  lexical.ngrams().AppendIndices(text, buckets);
  return buckets;
}

// Returns what one occurrence of an n-gram in `text` adds to the score, by
// bucket, for the buckets that both texts have. The lexical cosine is the sum
// over these buckets of query value x title value, so a bucket's share is known
// exactly; it is divided evenly among the occurrences of its n-grams in the
// text.
absl::flat_hash_map<std::uint32_t, float> AddedByOccurrence(
    const TwoTowerModel& model, ModelParts parts, std::string_view text,
    std::string_view other) {
  LexicalBatch texts;
  model.lexical()->AppendText(text, texts);
  model.lexical()->AppendText(other, texts);
  PartScorer scorer;
  scorer.Begin(model, {.parts = parts, .with_parts = true}, texts[0]);
  absl::flat_hash_map<std::uint32_t, float> added;
  for (const LexicalEntry& entry : texts[1]) {
    const std::uint32_t value = scorer.query().value(entry.bucket);
    // `text` does not have this bucket.
    if (value == 0) continue;
    const std::uint64_t product = std::uint64_t{value} * entry.value;
    added[entry.bucket] = scorer.Combine(0, LexicalCosine(product));
  }
  absl::flat_hash_map<std::uint32_t, float> counts;
  for (const std::uint32_t bucket : BucketsOf(*model.lexical(), text)) {
    ++counts[bucket];
  }
  // Each bucket of `added` occurs in `text`, so no count is 0.
  for (auto& [bucket, share] : added) share /= counts[bucket];
  return added;
}

// Finds the words and n-grams of `text` that `other` has too. Models without a
// lexical part have no n-grams to find.
void FindMatches(const TwoTowerModel& model, ModelParts parts,
                 std::string_view text, std::string_view other,
                 std::vector<WordContribution>& words) {
  absl::flat_hash_set<std::string> other_words;
  ForEachWord(other, [&](auto word) { other_words.emplace(word); });
  for (WordContribution& word : words) {
    word.in_other_text = other_words.contains(word.word);
  }
  const LexicalPart* const lexical = model.lexical();
  if (lexical == nullptr) return;
  const auto added = AddedByOccurrence(model, parts, text, other);
  // `buckets` and `ngrams` are parallel: both list the n-grams of the word from
  // left to right. N-grams that share a bucket share what it adds.
  for (WordContribution& word : words) {
    const std::vector<std::uint32_t> buckets = BucketsOf(*lexical, word.word);
    std::vector<std::string> ngrams =
        LetterNgrams(word.word, lexical->ngrams().ngram_length());
    for (std::size_t i = 0; i < buckets.size(); ++i) {
      const auto match = added.find(buckets[i]);
      if (match == added.end()) continue;
      word.matches.push_back({std::move(ngrams[i]), match->second});
    }
  }
}

}  // namespace

absl::Status Explainer::Read(const ServedModel& served, std::string_view query,
                             std::string_view title, Request& request) const {
  const Limits& limits = engine_.limits();
  const int version = served.model->normalizer_version();
  SEMRANK_RETURN_IF_ERROR(CheckQuery(query, limits));
  if (IsTooLong(title, limits)) {
    return TextTooLong("title", title.size(), limits.max_text_bytes);
  }
  const absl::Status valid_query = request.query.Add(query, version);
  if (!valid_query.ok()) return InvalidUtf8("query", valid_query);
  const absl::Status valid_title = request.title.Add(title, version);
  if (!valid_title.ok()) return InvalidUtf8("title", valid_title);

  // Each word is one text through a tower, with all the other words in it.
  const std::size_t query_words = CountWords(request.query[0]);
  const std::size_t title_words = CountWords(request.title[0]);
  // The two texts themselves are embedded too.
  request.num_texts = static_cast<std::int64_t>(query_words + title_words + 2);
  request.num_bytes = (query_words + 1) * request.query[0].size() +
                      (title_words + 1) * request.title[0].size();
  return absl::OkStatus();
}

absl::Status Explainer::Check(const ServedModel& served,
                              const Request& request) const {
  SEMRANK_RETURN_IF_ERROR(CheckParts(*served.model, request.parts));
  const Limits& limits = engine_.limits();
  const std::int64_t num_words = request.num_texts - 2;
  const std::int64_t max_texts = limits.max_texts_per_request - 1;
  // The error names the flag whose limit is lower, which an operator would have
  // to raise.
  const bool texts_are_less = max_texts < limits.max_explain_words;
  const std::int64_t max_words =
      texts_are_less ? max_texts : limits.max_explain_words;
  if (num_words <= max_words) return absl::OkStatus();
  const char* const flag =
      texts_are_less ? "max_texts_per_request" : "max_explain_words";
  return FieldError(
      "TOO_MANY_TEXTS", "query",
      absl::StrFormat("the query and the title have %d words together, each of "
                      "which is embedded as a text; the limit is %d (--%s)",
                      num_words, max_words, flag),
      LimitValues(num_words, max_words, flag));
}

absl::StatusOr<Progress> Explainer::RunSlice(const ServedModel& served,
                                             const Caller& caller,
                                             Request& request,
                                             Explanation& result) const {
  if (!request.begun) {
    SEMRANK_RETURN_IF_ERROR(Begin(served, caller, request, result));
  }
  // A slice explains words of one side.
  const std::size_t query_words = result.query_words.size();
  const bool of_query = request.num_explained < query_words;
  std::vector<WordContribution>& words =
      of_query ? result.query_words : result.title_words;
  const std::size_t before = of_query ? 0 : query_words;
  // A variant is nearly as long as the whole text.
  const std::size_t text_bytes =
      of_query ? request.query[0].size() : request.title[0].size();
  const std::size_t first = request.num_explained - before;
  const std::size_t last =
      SliceEnd(first, words.size(), [&](std::size_t) { return text_bytes; });
  SEMRANK_RETURN_IF_ERROR(ExplainWords(
      {served, caller, result.times}, of_query ? Side::kQuery : Side::kDocument,
      {first, last}, request, words));
  request.num_explained = before + last;
  return request.num_explained < query_words + result.title_words.size()
             ? Progress::kMore
             : Progress::kDone;
}

absl::Status Explainer::Begin(const ServedModel& served, const Caller& caller,
                              Request& request, Explanation& result) const {
  request.begun = true;
  const std::size_t dim = served.model->embedding_dim();
  request.query_row.resize(dim);
  request.title_row.resize(dim);
  const EmbedContext context = {served, caller, result.times};
  SEMRANK_RETURN_IF_ERROR(engine_.embedder().Embed(
      context, Side::kQuery, request.query, request.query_row.data()));
  SEMRANK_RETURN_IF_ERROR(engine_.embedder().Embed(
      context, Side::kDocument, request.title, request.title_row.data()));
  Stopwatch clock;
  result.parts = ScorePair(*served.model, request.parts,
                           {request.query[0], request.query_row.data()},
                           {request.title[0], request.title_row.data()});
  result.times[Phase::kScore] += clock.Lap();
  result.query_words = SplitWords(request.query[0]);
  result.title_words = SplitWords(request.title[0]);
  const Featurizer& featurizer = served.model->featurizer();
  for (auto* words : {&result.query_words, &result.title_words}) {
    for (WordContribution& word : *words) CountFeatures(featurizer, word);
  }
  // Once for each side: what a bucket adds is divided among its occurrences in
  // the text of that side.
  FindMatches(*served.model, request.parts, request.query[0], request.title[0],
              result.query_words);
  FindMatches(*served.model, request.parts, request.title[0], request.query[0],
              result.title_words);
  result.times[Phase::kParse] += clock.Lap();
  const std::uint32_t max_units = request.max_pooling_units == 0
                                      ? kDefaultPoolingUnits
                                      : request.max_pooling_units;
  result.query_pooling = FindPoolingWinners(*served.model, Side::kQuery,
                                            request.query[0], max_units);
  result.title_pooling = FindPoolingWinners(*served.model, Side::kDocument,
                                            request.title[0], max_units);
  result.times[Phase::kEmbed] += clock.Lap();
  return absl::OkStatus();
}

absl::Status Explainer::ExplainWords(
    const EmbedContext& context, Side side, WordRange range,
    const Request& request, std::vector<WordContribution>& words) const {
  const TwoTowerModel& model = *context.served.model;
  const std::size_t dim = model.embedding_dim();
  const auto [first, last] = range;
  SliceScratch& scratch = ThreadSliceScratch();
  scratch.normalized.Clear();
  AddVariants(side == Side::kQuery ? request.query[0] : request.title[0], first,
              last, scratch.normalized);
  scratch.rows.resize((last - first) * dim);
  SEMRANK_RETURN_IF_ERROR(engine_.embedder().Embed(
      context, side, scratch.normalized, scratch.rows.data()));
  Stopwatch clock;
  for (std::size_t i = first; i < last; ++i) {
    const float* row = scratch.rows.data() + (i - first) * dim;
    const std::string_view variant =
        scratch.normalized[static_cast<int>(i - first)];
    const TextView without = {variant, row};
    words[i].without =
        side == Side::kQuery
            ? ScorePair(model, request.parts, without,
                        {request.title[0], request.title_row.data()})
            : ScorePair(model, request.parts,
                        {request.query[0], request.query_row.data()}, without);
  }
  context.times[Phase::kScore] += clock.Lap();
  return absl::OkStatus();
}

}  // namespace semrank
