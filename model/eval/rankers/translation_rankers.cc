#include "model/eval/rankers/translation_rankers.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/base/interrupt.h"
#include "model/base/strings.h"
#include "model/eval/rankers/document_translator.h"
#include "model/eval/rankers/word_features.h"
#include "model/text/normalizer.h"

namespace semrank {
namespace {

// The range [begin, end) of each word, in bytes.
std::vector<std::pair<std::size_t, std::size_t>> WordSpans(
    std::string_view text) {
  std::vector<std::pair<std::size_t, std::size_t>> spans;
  ForEachWord(text, [&](std::string_view word) {
    const std::size_t begin = word.data() - text.data();
    spans.emplace_back(begin, begin + word.size());
  });
  return spans;
}

// Calls visit(phrase) for every phrase of up to kMaxPhraseWords words.
template <typename Visitor>
void ForEachPhrase(std::string_view text, Visitor visit) {
  const auto spans = WordSpans(text);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const std::size_t end = std::min(spans.size(), i + kMaxPhraseWords);
    for (std::size_t j = i; j < end; ++j) {
      visit(text.substr(spans[i].first, spans[j].second - spans[i].first));
    }
  }
}

// The constructors of rankers return early after Ctrl-C.
template <typename R>
absl::StatusOr<std::unique_ptr<R>> UnlessInterrupted(
    std::unique_ptr<R> ranker) {
  if (Interrupted()) {
    return absl::CancelledError("interrupted while documents were translated");
  }
  return ranker;
}

}  // namespace

absl::StatusOr<std::unique_ptr<TranslationRanker>> TranslationRanker::Create(
    const TranslationModel& model, const std::vector<std::string>& documents,
    const TranslationSmoothing& smoothing) {
  return UnlessInterrupted(std::unique_ptr<TranslationRanker>(
      new TranslationRanker(model, documents, smoothing)));
}

TranslationRanker::TranslationRanker(const TranslationModel& model,
                                     const std::vector<std::string>& documents,
                                     const TranslationSmoothing& smoothing)
    : ListRanker(documents.size()), vocabulary_(model, documents) {
  DocumentTranslator translator(model, vocabulary_, smoothing);
  BagBatch bags;
  for (const std::string& document : documents) {
    if (Interrupted()) return;
    translator.AppendWords(document, bags);
    bags.EndBag();
  }
  lists_ = InvertedLists(vocabulary_.size(), bags);
}

void TranslationRanker::ScoreQuery(std::string_view query,
                                   float* scores) const {
  ForEachWord(query, [&](std::string_view text) {
    const auto word = vocabulary_.Find(text);
    // Adds the logarithm of the word's factor. A word that neither the log nor
    // the documents have does not distinguish documents.
    if (word) lists_.AddScaled(*word, 1, scores);
  });
}

absl::StatusOr<std::unique_ptr<PhraseRanker>> PhraseRanker::Create(
    const TranslationModel& model, const std::vector<std::string>& documents,
    const TranslationSmoothing& smoothing) {
  return UnlessInterrupted(std::unique_ptr<PhraseRanker>(
      new PhraseRanker(model, documents, smoothing)));
}

PhraseRanker::PhraseRanker(const TranslationModel& model,
                           const std::vector<std::string>& documents,
                           const TranslationSmoothing& smoothing)
    : ListRanker(documents.size()), vocabulary_(model, documents) {
  const LongPhrases phrases = NumberPhrases(model, smoothing);
  DocumentTranslator translator(model, vocabulary_, smoothing);
  BagBatch bags;
  absl::flat_hash_map<std::uint32_t, double> found;
  for (const std::string& document : documents) {
    if (Interrupted()) return;
    translator.AppendWords(document, bags);
    const double share = 1 / LengthInWords(document);
    ForEachPhrase(document, [&](std::string_view phrase) {
      for (const auto& translation : model.phrase_translations.Of(phrase)) {
        const auto list = phrases.list_of_target[translation.target];
        if (list) found[*list] += share * translation.probability;
      }
    });
    for (const auto& [list, probability] : found) {
      const double weight =
          std::log(probability) + phrases.constants[list - vocabulary_.size()];
      // This phrase is never the maximum: the path through its single words
      // weighs 0 or more, as their lists have no negative weights and a word
      // without an entry adds 0.
      if (!(weight > 0)) continue;
      bags.indices.push_back(list);
      bags.counts.push_back(static_cast<float>(weight));
    }
    found.clear();
    bags.EndBag();
  }
  lists_ = InvertedLists(vocabulary_.size() + phrases.constants.size(), bags);
}

PhraseRanker::LongPhrases PhraseRanker::NumberPhrases(
    const TranslationModel& model, const TranslationSmoothing& smoothing) {
  const double log_translated =
      std::log((1 - smoothing.background) * (1 - smoothing.self));
  LongPhrases phrases;
  for (const std::string& target : model.phrase_translations.targets()) {
    phrases.list_of_target.emplace_back();
    // Skips single words. Words have no blank, so a phrase of two is never in
    // the vocabulary.
    if (vocabulary_.Find(target)) continue;
    const auto list = static_cast<std::uint32_t>(vocabulary_.size() +
                                                 phrases.constants.size());
    phrases.list_of_target.back() = list;
    long_phrases_.emplace(target, list);
    double log_background = 0;
    ForEachWord(target, [&](std::string_view word) {
      log_background +=
          std::log(smoothing.background *
                   vocabulary_.Background(*vocabulary_.Find(word)));
    });
    // Scores are relative to the log of alpha P(q|C) of each query word, so the
    // score of a phrase is relative to those of all its words.
    phrases.constants.push_back(log_translated - log_background);
  }
  return phrases;
}

std::optional<std::uint32_t> PhraseRanker::FindPhrase(
    std::string_view phrase, std::size_t num_words) const {
  if (num_words == 1) return vocabulary_.Find(phrase);
  const auto found = long_phrases_.find(ToAbsl(phrase));
  if (found == long_phrases_.end()) return std::nullopt;
  return found->second;
}

// `scores` holds log a_j of all documents and is updated in place from word to
// word. A longer phrase needs log a_j from before its first word, but only for
// the documents of its own list, so not all scores are copied.
void PhraseRanker::ScoreQuery(std::string_view query, float* scores) const {
  struct OpenPhrase {
    std::span<const InvertedLists::Posting> list;
    std::size_t end;            // in words
    std::vector<float> before;  // log a_j of the list's documents
  };
  const auto spans = WordSpans(query);
  std::vector<OpenPhrase> open;
  for (std::size_t j = 0; j < spans.size(); ++j) {
    const auto list_of = [&](std::size_t num_words) {
      const std::size_t end = spans[j + num_words - 1].second;
      return FindPhrase(query.substr(spans[j].first, end - spans[j].first),
                        num_words);
    };
    for (std::size_t n = 2; n <= std::min(kMaxPhraseWords, spans.size() - j);
         ++n) {
      const auto list = list_of(n);
      if (!list) continue;
      OpenPhrase& phrase =
          open.emplace_back(OpenPhrase{lists_.Of(*list), j + n, {}});
      for (const auto& posting : phrase.list) {
        phrase.before.push_back(scores[posting.document]);
      }
    }
    // First the path through the single word, for all documents: a_j+1 is at
    // least a_j times the word's probability. The phrases that end at this word
    // then compete with it.
    if (const auto list = list_of(1)) lists_.AddScaled(*list, 1, scores);
    std::erase_if(open, [&](const OpenPhrase& phrase) {
      if (phrase.end != j + 1) return false;
      for (std::size_t i = 0; i < phrase.list.size(); ++i) {
        float& score = scores[phrase.list[i].document];
        score = std::max(score, phrase.before[i] + phrase.list[i].weight);
      }
      return true;
    });
  }
}

}  // namespace semrank
