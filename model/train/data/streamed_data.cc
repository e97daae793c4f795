#include "model/train/data/streamed_data.h"

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/interrupt.h"
#include "model/base/random.h"
#include "model/base/status_macros.h"
#include "model/cli/exit_code.h"
#include "model/cli/progress.h"
#include "model/data/pair_reader.h"
#include "model/format/model_config.h"
#include "model/text/vocabulary_builder.h"
#include "model/text/word_sequences.h"
#include "model/train/data/held_out_collection.h"
#include "model/train/data/memory_budget.h"
#include "model/train/data/read_pairs.h"
#include "model/train/data/title_sample.h"
#include "model/train/data/training_features.h"
#include "model/train/options/model_size.h"

namespace semrank {
namespace {

// This number of queries is held out whatever memory they take.
constexpr std::int64_t kMinValidPairs = 16;

// The lexical weight is fitted on held-out queries, so there must be some.
double HeldOutShare(const TrainOptions& options) {
  const double share = options.data.valid_fraction;
  const bool fits = !options.features.lexical_weight.has_value();
  return fits && share == 0 && options.data.valid_pair_files.empty()
             ? kDefaultValidFraction
             : share;
}

// Collects what the counting pass over the files keeps.
class StreamCounter {
 public:
  explicit StreamCounter(const TrainOptions& options)
      : options_(options),
        budget_(ShareForCounting(options)),
        hash_(options.seed),
        // A share of all hash values, so that each pass over the files knows
        // the held-out queries without a list of them.
        held_out_below_(
            static_cast<std::uint64_t>(HeldOutShare(options) * 0x1p64)),
        titles_(budget_.max_titles, budget_.title_bytes) {}

  void Add(ClickPair pair) {
    const std::uint64_t hash = hash_(pair.query);
    if (hash >= held_out_below_) return AddForTraining(pair);
    held_out_bytes_ += HeldOutBytes(pair);
    held_out_[hash].push_back(std::move(pair));
    ++num_held_out_;
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
    while (!held_out_.empty()) HoldOutFewerQueries();
    held_out_below_ = 0;
  }

  const std::map<std::uint64_t, std::vector<ClickPair>>& held_out() const {
    return held_out_;
  }
  const TitleSample& titles() const { return titles_; }
  const VocabularyBuilder& vocabulary() const { return vocabulary_; }
  DataStatistics statistics() const { return statistics_; }
  std::uint64_t held_out_below() const { return held_out_below_; }

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
    while (CountedWordsBytes(vocabulary_.num_distinct_words() +
                                 vocabulary_.num_distinct_bigrams(),
                             vocabulary_.num_characters()) >
           budget_.word_bytes) {
      ForgetRareEntries();
    }
    ++statistics_.train_pairs;
    statistics_.clicks += CappedClicks(pair.clicks);
    statistics_.queries.Add(pair.query);
    statistics_.titles.Add(pair.title);
    titles_.Add(hash_(pair.title), pair.title);
  }

  // Drops half of the words, or half of the bigrams, of which there are usually
  // more.
  void ForgetRareEntries() {
    const std::int64_t num_words = vocabulary_.num_distinct_words();
    const std::int64_t num_bigrams = vocabulary_.num_distinct_bigrams();
    if (num_bigrams > num_words) {
      vocabulary_.ForgetRareBigrams(num_bigrams / 2);
    } else {
      vocabulary_.ForgetRareWords(num_words / 2,
                                  options_.features.ngram_length);
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
    num_held_out_ -= static_cast<std::int64_t>(last->second.size());
    for (const ClickPair& pair : last->second) {
      held_out_bytes_ -= HeldOutBytes(pair);
      AddForTraining(pair);
    }
    held_out_.erase(last);
  }

  const TrainOptions& options_;
  CountingBudget budget_;
  TextHash hash_;
  std::uint64_t held_out_below_;
  std::map<std::uint64_t, std::vector<ClickPair>> held_out_;  // by query
  std::int64_t num_held_out_ = 0;
  std::int64_t held_out_bytes_ = 0;
  TitleSample titles_;
  VocabularyBuilder vocabulary_;
  DataStatistics statistics_;
};

absl::Status CheckStreamable(const TrainOptions& options) {
  if (options.loss.logq > 0) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "the click log does not fit in --memory_limit, but --logq=%g needs the "
        "number of pairs of every title: give more memory or --logq=0",
        options.loss.logq));
  }
  if (UsesShownTitles(options.loss) && options.data.judged_file.empty()) {
    return absl::ResourceExhaustedError(
        "the click log does not fit in --memory_limit, but all of it is needed "
        "to know what was shown for a query: give more memory or --judged");
  }
  return absl::OkStatus();
}

absl::Status CountPairs(const TrainOptions& options, BadLines& bad_lines,
                        StreamCounter& counter) {
  PairReader reader(options.data.train_files, PairLines::kClicked, bad_lines);
  ProgressBar progress("counting", /*total=*/0, "pairs");
  ClickPair pair;
  for (std::int64_t count = 1;; ++count) {
    SEMRANK_ASSIGN_OR_RETURN(const bool more, reader.Next(pair));
    if (!more) break;
    if (Interrupted()) return absl::CancelledError("interrupted while reading");
    counter.Add(pair);
    progress.Update(count);
  }
  counter.DropTooSmallValidation();
  if (counter.titles().titles().size() >= 2) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "the %d lines of %s have fewer than two titles", reader.num_lines(),
      absl::StrJoin(options.data.train_files, ",")));
}

std::vector<TextPair> InternHeldOut(const StreamCounter& counter,
                                    TextInterner& texts) {
  std::vector<TextPair> pairs;
  for (const auto& [hash, held_out] : counter.held_out()) {
    for (const ClickPair& pair : held_out) {
      pairs.push_back(InternPair(pair, texts));
    }
  }
  return pairs;
}

std::vector<TextId> InternTitles(const TitleSample& sample,
                                 TextInterner& texts) {
  std::vector<TextId> ids;
  for (const auto& [hash, title] : sample.titles()) {
    ids.push_back(texts.Intern(title));
  }
  return ids;
}

DataStatistics Describe(const StreamCounter& counter,
                        const Featurizer& featurizer, std::size_t num_valid,
                        const BadLines& bad_lines) {
  DataStatistics statistics = counter.statistics();
  statistics.valid_pairs = static_cast<std::int64_t>(num_valid);
  statistics.bad_lines = bad_lines.count();
  statistics.features = NumListedFeatures(featurizer);
  statistics.distinct_texts = false;
  return statistics;
}

void Print(const DataStatistics& statistics, std::int64_t shuffle_bytes,
           const TrainOptions& options, const TitleSample& sample) {
  absl::FPrintF(
      stderr,
      "%d pairs for training, streamed from disk through a shuffle buffer "
      "of %d bytes; %d for validation, %d features, %d bad lines\n",
      statistics.train_pairs, shuffle_bytes, statistics.valid_pairs,
      statistics.features, statistics.bad_lines);
  if (options.tower.kind != v1::TOWER_KIND_SSI) return;
  absl::FPrintF(stderr, "idf is counted over %s%d titles\n",
                sample.complete() ? "all " : "a sample of ",
                sample.titles().size());
}

}  // namespace

TextHash::TextHash(std::uint64_t seed)
    : fingerprinter_([seed] {
        Fingerprinter::Secret secret;
        Random random(seed, RandomPurpose::kTextHash);
        for (unsigned char& byte : secret) {
          byte = static_cast<unsigned char>(random.Next());
        }
        return secret;
      }()) {}

std::uint64_t TextHash::operator()(std::string_view text) const {
  return fingerprinter_(text).hi;
}

absl::StatusOr<TrainingData> LoadStreamedData(const TrainOptions& options,
                                              BadLines& bad_lines) {
  SEMRANK_RETURN_IF_ERROR(CheckStreamable(options));
  StreamCounter counter(options);
  SEMRANK_RETURN_IF_ERROR(CountPairs(options, bad_lines, counter));

  auto stream = std::make_shared<PairStream>();
  stream->num_pairs = counter.statistics().train_pairs;
  stream->num_clicks = counter.statistics().clicks;
  stream->held_out_below = counter.held_out_below();
  // Titles come first, in the order of their hashes, so that their numbers, and
  // with them the drawn negatives, do not depend on the order of the files.
  std::vector<TextId> titles = InternTitles(counter.titles(), stream->texts);
  std::vector<TextPair> valid_pairs = InternHeldOut(counter, stream->texts);
  if (!options.data.valid_pair_files.empty()) {
    SEMRANK_ASSIGN_OR_RETURN(
        valid_pairs, ReadValidPairs(options.data.valid_pair_files, bad_lines,
                                    stream->texts));
  }
  ShownTitles shown;
  if (UsesShownTitles(options.loss)) {
    SEMRANK_ASSIGN_OR_RETURN(
        shown, ReadShownTitles({}, options.data.judged_file, bad_lines,
                               stream->texts));
  }
  SEMRANK_ASSIGN_OR_RETURN(
      Featurizer featurizer,
      MakeFeaturizer(options.features, counter.vocabulary()));
  SEMRANK_ASSIGN_OR_RETURN(
      stream->shuffle_bytes,
      ShareForShuffling(options, featurizer.num_features()));
  const DataStatistics statistics =
      Describe(counter, featurizer, valid_pairs.size(), bad_lines);
  Print(statistics, stream->shuffle_bytes, options, counter.titles());
  TextBags bags(stream->texts, featurizer, TextFormOf(options.tower));
  std::vector<float> lexical_idf =
      LexicalIdfOf(options.features, stream->texts, titles);
  std::shared_ptr<const Collection> held_out =
      MakeHeldOutCollection(stream->texts, valid_pairs, titles, options.seed);
  // The pointer shares the ownership of the stream, whose member it is.
  std::shared_ptr<const TextInterner> texts(stream, &stream->texts);
  return TrainingData{.featurizer = std::move(featurizer),
                      .bags = std::move(bags),
                      .train_pairs = {},
                      .valid_pairs = std::move(valid_pairs),
                      .titles = std::move(titles),
                      .shown = std::move(shown),
                      .statistics = statistics,
                      .stream = std::move(stream),
                      .texts = std::move(texts),
                      .lexical_idf = std::move(lexical_idf),
                      .held_out = std::move(held_out)};
}

}  // namespace semrank
