#include "model/train/data/training_data.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/random.h"
#include "model/base/status_macros.h"
#include "model/cli/interrupt.h"
#include "model/cli/progress.h"
#include "model/train/data/memory_budget.h"
#include "model/train/data/pair_reader.h"
#include "model/train/data/shown_titles_reader.h"
#include "model/train/data/streamed_data.h"
#include "model/train/data/training_features.h"

namespace semrank {
namespace {

std::vector<TextId> Distinct(std::vector<TextId> ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

std::vector<TextId> DistinctQueries(const std::vector<TextPair>& pairs) {
  std::vector<TextId> ids;
  for (const TextPair& pair : pairs) ids.push_back(pair.query);
  return Distinct(std::move(ids));
}

std::vector<TextId> DistinctTitles(const std::vector<TextPair>& pairs) {
  std::vector<TextId> ids;
  for (const TextPair& pair : pairs) ids.push_back(pair.title);
  return Distinct(std::move(ids));
}

DataStatistics Describe(const std::vector<TextPair>& pairs,
                        const TextInterner& texts,
                        const std::vector<TextId>& queries,
                        const std::vector<TextId>& titles) {
  DataStatistics statistics;
  statistics.train_pairs = static_cast<std::int64_t>(pairs.size());
  for (const TextPair& pair : pairs) statistics.clicks += pair.clicks;
  for (const TextId id : queries) statistics.queries.Add(texts.text(id));
  for (const TextId id : titles) statistics.titles.Add(texts.text(id));
  return statistics;
}

// Those of the training pairs, with their hard negatives.
std::vector<TextId> TextsOfVocabulary(const std::vector<TextId>& queries,
                                      const std::vector<TextId>& titles,
                                      const ShownTitles& shown) {
  std::vector<TextId> ids = titles;
  ids.insert(ids.end(), queries.begin(), queries.end());
  for (const TextId query : queries) {
    const std::span<const TextId> negatives = shown.Of(query);
    ids.insert(ids.end(), negatives.begin(), negatives.end());
  }
  return Distinct(std::move(ids));
}

absl::Status CheckTitles(const std::vector<std::string>& files,
                         const std::vector<TextPair>& pairs,
                         const TextInterner& texts) {
  const TextId title = pairs[0].title;
  if (std::any_of(pairs.begin(), pairs.end(), [title](const TextPair& pair) {
        return pair.title != title;
      })) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "all pairs of %s have the same title, \"%s\": there is nothing to tell "
      "it from",
      absl::StrJoin(files, ","), texts.text(title).substr(0, 80)));
}

// Validation pairs as the options say, taken out of `train_pairs` if need be.
absl::StatusOr<std::vector<TextPair>> TakeValidPairs(
    const TrainOptions& options, BadLines& bad_lines, TextInterner& texts,
    std::vector<TextPair>& train_pairs) {
  if (!options.data.valid_pair_files.empty()) {
    return ReadValidPairs(options.data.valid_pair_files, bad_lines, texts);
  }
  if (options.data.valid_fraction <= 0) return std::vector<TextPair>();
  std::vector<TextPair> held_out =
      HoldOutQueries(options.data.valid_fraction, options.seed, train_pairs);
  // Too small to be cut in two: the loss of a single title is always 0.
  if (DistinctTitles(held_out).size() < 2 ||
      DistinctTitles(train_pairs).size() < 2) {
    train_pairs.insert(train_pairs.end(), held_out.begin(), held_out.end());
    held_out.clear();
    absl::FPrintF(stderr,
                  "too few pairs to hold some out: training without "
                  "validation\n");
  }
  return held_out;
}

}  // namespace

std::uint32_t CappedClicks(std::int64_t clicks) {
  return static_cast<std::uint32_t>(std::min<std::int64_t>(
      clicks, std::numeric_limits<std::uint32_t>::max()));
}

std::int64_t Repetitions(std::int64_t clicks, const LossOptions& loss) {
  return loss.clicks == v1::CLICK_USE_REPEAT ? clicks : 1;
}

TextPair InternPair(const ClickPair& pair, TextInterner& texts) {
  const TextId query = texts.Intern(pair.query);
  return {query, texts.Intern(pair.title), CappedClicks(pair.clicks)};
}

absl::StatusOr<std::vector<TextPair>> ReadPairs(
    const std::vector<std::string>& files, BadLines& bad_lines,
    TextInterner& texts, std::vector<ShownTitle>* shown,
    const DataOptions* memory) {
  PairReader reader(files,
                    shown != nullptr ? PairLines::kAll : PairLines::kClicked,
                    bad_lines);
  ProgressBar progress("reading", /*total=*/0, "pairs");
  std::vector<TextPair> pairs;
  ClickPair pair;
  for (;;) {
    SEMRANK_ASSIGN_OR_RETURN(const bool more, reader.Next(pair));
    if (!more) break;
    if (Interrupted()) return absl::CancelledError("interrupted while reading");
    // One number stays free: the tables' marks for "none".
    if (texts.size() + 2 > std::numeric_limits<TextId>::max()) {
      return absl::ResourceExhaustedError(
          absl::StrFormat("more than %d distinct texts in %s", texts.size(),
                          absl::StrJoin(files, ",")));
    }
    const TextPair interned = InternPair(pair, texts);
    if (shown != nullptr) {
      shown->push_back(
          {interned.query, interned.title, pair.clicks, pair.impressions});
    }
    if (pair.clicks == 0) continue;
    pairs.push_back(interned);
    if (memory != nullptr && !FitsInMemory(PairBytes(pairs.size(), texts.size(),
                                                     texts.num_characters()),
                                           *memory)) {
      return absl::OutOfRangeError("the pairs do not fit in memory");
    }
    progress.Update(static_cast<std::int64_t>(pairs.size()));
  }
  if (reader.num_without_clicks() > 0) {
    absl::FPrintF(stderr, "%d pairs have 0 clicks and are %s\n",
                  reader.num_without_clicks(),
                  shown != nullptr ? "negatives only" : "left out");
  }
  if (!pairs.empty()) return pairs;
  return absl::InvalidArgumentError(
      absl::StrFormat("no usable pair among the %d lines of %s",
                      reader.num_lines(), absl::StrJoin(files, ",")));
}

absl::StatusOr<std::vector<TextPair>> ReadValidPairs(
    const std::vector<std::string>& files, BadLines& bad_lines,
    TextInterner& texts) {
  SEMRANK_ASSIGN_OR_RETURN(std::vector<TextPair> pairs,
                           ReadPairs(files, bad_lines, texts));
  SEMRANK_RETURN_IF_ERROR(CheckTitles(files, pairs, texts));
  return pairs;
}

std::vector<TextPair> HoldOutQueries(double fraction, std::uint64_t seed,
                                     std::vector<TextPair>& pairs) {
  std::vector<TextId> queries = DistinctQueries(pairs);
  Random random(seed, RandomPurpose::kHeldOutQueries);
  Shuffle(random, queries);
  queries.resize(std::max<std::size_t>(
      1, std::llround(fraction * static_cast<double>(queries.size()))));
  std::sort(queries.begin(), queries.end());

  const auto first_held_out = std::stable_partition(
      pairs.begin(), pairs.end(), [&queries](const TextPair& pair) {
        return !std::binary_search(queries.begin(), queries.end(), pair.query);
      });
  std::vector<TextPair> held_out(first_held_out, pairs.end());
  pairs.erase(first_held_out, pairs.end());
  return held_out;
}

namespace {

// OutOfRange when it does not fit.
absl::StatusOr<TrainingData> LoadIntoMemory(const TrainOptions& options,
                                            BadLines& bad_lines) {
  TextInterner texts;
  std::vector<ShownTitle> shown_lines;
  SEMRANK_ASSIGN_OR_RETURN(
      std::vector<TextPair> train_pairs,
      ReadPairs(options.data.train_files, bad_lines, texts,
                UsesShownTitles(options.loss) ? &shown_lines : nullptr,
                &options.data));
  SEMRANK_RETURN_IF_ERROR(
      CheckTitles(options.data.train_files, train_pairs, texts));
  SEMRANK_ASSIGN_OR_RETURN(
      std::vector<TextPair> valid_pairs,
      TakeValidPairs(options, bad_lines, texts, train_pairs));
  ShownTitles shown;
  if (UsesShownTitles(options.loss)) {
    SEMRANK_ASSIGN_OR_RETURN(
        shown, ReadShownTitles(std::move(shown_lines), options.data.judged_file,
                               bad_lines, texts));
    SEMRANK_RETURN_IF_ERROR(CheckShownTitles(shown, train_pairs));
  }
  std::vector<TextId> titles = DistinctTitles(train_pairs);
  const std::vector<TextId> queries = DistinctQueries(train_pairs);
  SEMRANK_ASSIGN_OR_RETURN(
      Featurizer featurizer,
      ChooseFeatures(options.features, texts,
                     TextsOfVocabulary(queries, titles, shown),
                     NumPaddings(options.tower)));
  SEMRANK_RETURN_IF_ERROR(CheckFitsBesideModel(
      PairBytes(static_cast<std::int64_t>(train_pairs.size()), texts.size(),
                texts.num_characters()),
      options, featurizer.num_features()));

  absl::FPrintF(stderr,
                "%d pairs (%d queries, %d titles) for training, %d for "
                "validation, %d features, %d bad lines\n",
                train_pairs.size(), queries.size(), titles.size(),
                valid_pairs.size(), featurizer.num_features(),
                bad_lines.count());
  DataStatistics statistics = Describe(train_pairs, texts, queries, titles);
  statistics.valid_pairs = static_cast<std::int64_t>(valid_pairs.size());
  statistics.bad_lines = bad_lines.count();
  statistics.features = featurizer.num_features();
  TextBags bags(texts, featurizer, TextFormOf(options.tower));
  return TrainingData{std::move(featurizer),
                      std::move(bags),
                      std::move(train_pairs),
                      std::move(valid_pairs),
                      std::move(titles),
                      std::move(shown),
                      statistics,
                      /*stream=*/nullptr};
}

}  // namespace

absl::StatusOr<TrainingData> LoadTrainingData(const TrainOptions& options,
                                              BadLines& bad_lines) {
  const BadLines bad_lines_before = bad_lines;
  absl::StatusOr<TrainingData> data = LoadIntoMemory(options, bad_lines);
  if (!absl::IsOutOfRange(data.status())) return data;
  bad_lines = bad_lines_before;
  return LoadStreamedData(options, bad_lines);
}

}  // namespace semrank
