#include "model/train/data/streamed_data.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/random.h"
#include "model/base/status_macros.h"
#include "model/data/input_progress.h"
#include "model/data/pair_reader.h"
#include "model/format/model_config.h"
#include "model/text/word_sequences.h"
#include "model/train/data/memory_budget.h"
#include "model/train/options/model_size.h"

namespace semrank {
namespace {

// The counting pass has bounded memory: each of its three collections (words,
// titles, held-out pairs) drops a part when it is full, by rules that depend on
// texts and the seed alone. So what is kept does not depend on the order of
// files and lines, except for the rarest words.

// This number of queries is held out whatever memory they take.
constexpr std::int64_t kMinValidPairs = 16;

// The fit of the lexical weight scores up to 2,000 pairs, and 10 of a query.
constexpr std::int64_t kMaxPairsForFit = 4'000;
constexpr std::size_t kMaxFitPairsPerQuery = 10;

// Whether pairs are held out to fit the lexical weight, and for nothing else.
bool HoldsOutForFit(const TrainOptions& options) {
  return !options.features.lexical_weight.has_value() &&
         options.data.valid_fraction == 0 &&
         options.data.valid_pair_files.empty();
}

double HeldOutShare(const TrainOptions& options) {
  return HoldsOutForFit(options) ? kDefaultValidFraction
                                 : options.data.valid_fraction;
}

// What is held out is not learned from, so it is no more than its use needs.
CountingBudget BudgetOf(const TrainOptions& options) {
  CountingBudget budget = ShareForCounting(options);
  if (HoldsOutForFit(options)) {
    budget.max_valid_pairs = std::min(budget.max_valid_pairs, kMaxPairsForFit);
  }
  return budget;
}

// Collects what the counting pass over the files keeps.
class StreamCounter {
 public:
  StreamCounter(const TrainOptions& options, const PositionWeights& weights)
      : options_(options),
        weights_(weights),
        budget_(BudgetOf(options)),
        max_counted_(HoldsOutForFit(options)
                         ? kMaxFitPairsPerQuery
                         : std::numeric_limits<std::size_t>::max()),
        hash_(options.seed),
        // A share of all hash values, so that each pass over the files knows
        // the held-out queries without a list of them.
        held_out_below_(
            static_cast<std::uint64_t>(HeldOutShare(options) * 0x1p64)),
        titles_(budget_.max_titles, budget_.title_bytes) {}

  void Add(ClickPair pair) {
    // The map has the hashes as keys; two queries with the same 64 bits would
    // be held out together, which does no harm.
    const std::uint64_t hash = hash_(pair.query);
    if (hash >= held_out_below_) return AddForTraining(pair);
    held_out_bytes_ += HeldOutBytes(pair);
    std::vector<ClickPair>& pairs = held_out_[hash];
    pairs.push_back(std::move(pair));
    // A query with many pairs does not use up the places of other queries,
    // since the fit takes few of each.
    if (pairs.size() <= max_counted_) ++num_held_out_;
    // Queries with the lowest hashes stay held out. The bound only falls while
    // the files are read, so a query that was released stays above it, and no
    // query is both held out and trained on.
    while (HoldsOutTooMuch()) HoldOutFewerQueries();
  }

  // Puts the held-out pairs back when they have only one title, whose loss is
  // always 0.
  void DropTooSmallValidation() {
    std::string_view title;
    for (const auto& [hash, pairs] : held_out_) {
      for (const ClickPair& pair : pairs) {
        if (title.empty()) title = pair.title;
        if (title != pair.title) return;
      }
    }
    // Each call counts the pairs of a query for training.
    while (!held_out_.empty()) HoldOutFewerQueries();
    held_out_below_ = 0;
  }

  // Returns what was kept; the counter is not used afterwards.
  CountedLog Finish() {
    CountedLog log = {.stream = std::make_shared<PairStream>(),
                      .titles = {},
                      .highest_title_hash = titles_.highest_hash(),
                      .held_out = {},
                      .vocabulary = std::move(vocabulary_),
                      .statistics = statistics_};
    log.stream->num_pairs = statistics_.train_pairs;
    log.stream->num_clicks = statistics_.clicks;
    log.stream->held_out_below = held_out_below_;
    log.stream->has_all_titles = titles_.complete();
    log.statistics.distinct_texts = false;
    // Titles come first, in the order of their hashes, so that their numbers,
    // and with them the drawn negatives, do not depend on the order of the
    // files.
    for (const auto& [hash, title] : titles_.titles()) {
      log.titles.push_back(log.stream->texts.Intern(title));
    }
    for (const auto& [hash, pairs] : held_out_) {
      for (const ClickPair& pair : pairs) {
        log.held_out.push_back(InternPair(pair, log.stream->texts));
        log.held_out.back().weight =
            static_cast<float>(weights_.Of(pair.position));
      }
    }
    return log;
  }

 private:
  void AddForTraining(const ClickPair& pair) {
    for (const std::string* text : {&pair.query, &pair.title}) {
      vocabulary_.AddText(*text);
      if (HasBigrams(options_.features.kind)) vocabulary_.AddBigrams(*text);
    }
    // Both the query and the title have paddings.
    for (int i = 0; i < 2 * NumPaddings(options_.tower); ++i) {
      vocabulary_.AddText(kPaddingWord);
    }
    // Half at a time, so that the cost of sorting the words spreads over
    // many lines.
    while (CountedWordsBytes(vocabulary_.num_distinct_words() +
                                 vocabulary_.num_distinct_bigrams(),
                             vocabulary_.num_characters()) >
           budget_.word_bytes) {
      DropRareEntries();
    }
    ++statistics_.train_pairs;
    statistics_.clicks += CappedClicks(pair.clicks);
    statistics_.queries.Add(pair.query);
    statistics_.titles.Add(pair.title);
    titles_.Add(hash_(pair.title), pair.title);
  }

  // Drops half of the words, or half of the bigrams, of which there are usually
  // more.
  void DropRareEntries() {
    const std::int64_t num_words = vocabulary_.num_distinct_words();
    const std::int64_t num_bigrams = vocabulary_.num_distinct_bigrams();
    if (num_bigrams > num_words) {
      vocabulary_.DropRareBigrams(num_bigrams / 2);
    } else {
      vocabulary_.DropRareWords(num_words / 2, options_.features.ngram_length);
    }
  }

  static std::int64_t HeldOutBytes(const ClickPair& pair) {
    return KeptTextBytes(pair.query.size()) + KeptTextBytes(pair.title.size());
  }

  bool HoldsOutTooMuch() const {
    return num_held_out_ > budget_.max_valid_pairs ||
           (held_out_bytes_ > budget_.valid_pair_bytes &&
            num_held_out_ > kMinValidPairs);
  }

  // The query of the highest hash is trained on after all.
  void HoldOutFewerQueries() {
    const auto last = std::prev(held_out_.end());
    held_out_below_ = last->first;
    num_held_out_ -=
        static_cast<std::int64_t>(std::min(last->second.size(), max_counted_));
    for (const ClickPair& pair : last->second) {
      held_out_bytes_ -= HeldOutBytes(pair);
      AddForTraining(pair);
    }
    held_out_.erase(last);
  }

  const TrainOptions& options_;
  const PositionWeights& weights_;
  CountingBudget budget_;
  std::size_t max_counted_;  // pairs of a query, of those that are held out
  TextHash hash_;
  std::uint64_t held_out_below_;
  std::map<std::uint64_t, std::vector<ClickPair>> held_out_;  // by query
  std::int64_t num_held_out_ = 0;
  std::int64_t held_out_bytes_ = 0;
  TitleSample titles_;
  VocabularyBuilder vocabulary_;
  DataStatistics statistics_;
};

}  // namespace

TextHash::TextHash(std::uint64_t seed)
    : fingerprinter_([seed] {
        Fingerprinter::Secret secret;
        Random random(seed, RandomPurpose::kTextHash);
        // The secret comes from the seed, so that runs of one seed draw the
        // same sample and other seeds another one.
        for (unsigned char& byte : secret) {
          byte = static_cast<unsigned char>(random.Next());
        }
        return secret;
      }()) {}

std::uint64_t TextHash::operator()(std::string_view text) const {
  return fingerprinter_(text).hi;
}

bool TitleSample::IsFull() const {
  return titles_.size() > max_titles_ ||
         (bytes_ > max_bytes_ && titles_.size() > kMinTitles);
}

void TitleSample::Add(std::uint64_t hash, const std::string& title) {
  // The k lowest hashes of all titles are a uniform sample of the distinct
  // ones: a title is in or out by its hash, however often it occurs.
  if (hash > highest_) {
    complete_ = false;
    return;
  }
  if (!titles_.try_emplace(hash, title).second) return;
  bytes_ += KeptTextBytes(title.size());
  while (IsFull()) {
    const auto last = std::prev(titles_.end());
    bytes_ -= KeptTextBytes(last->second.size());
    // A later title above this hash cannot be among the lowest.
    highest_ = last->first - 1;
    titles_.erase(last);
    complete_ = false;
  }
}

absl::StatusOr<CountedLog> CountLog(const TrainOptions& options,
                                    const PositionWeights& weights,
                                    BadLines& bad_lines) {
  StreamCounter counter(options, weights);
  PairReader reader(
      options.data.train_files, PairLines::kClicked, bad_lines,
      {options.data.max_text_bytes, options.data.normalizer_version});
  InputProgress progress("counting", options.data.train_files, "pair");
  progress.Start();
  ClickPair pair;
  std::int64_t count = 0;
  for (;;) {
    SEMRANK_ASSIGN_OR_RETURN(const bool more, reader.Next(pair));
    if (!more) break;
    counter.Add(pair);
    if (++count % kPairsPerUpdate == 0) {
      progress.UpdateTo(reader.fraction_read(), count);
    }
  }
  progress.Finish(count);
  SEMRANK_RETURN_IF_ERROR(CheckPositions(weights, reader));
  counter.DropTooSmallValidation();
  CountedLog log = counter.Finish();
  if (log.titles.size() >= 2) return log;
  return absl::InvalidArgumentError(absl::StrFormat(
      "the %d lines of %s have fewer than two titles", reader.num_lines(),
      absl::StrJoin(options.data.train_files, ",")));
}

}  // namespace semrank
