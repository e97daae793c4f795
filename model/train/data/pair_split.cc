#include "model/train/data/pair_split.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/train/data/read_pairs.h"
#include "model/train/data/streamed_data.h"
#include "model/train/start/kept_pairs.h"
#include "model/train/start/start_language.h"

namespace semrank {
namespace {

absl::Status CheckLanguage(const TrainOptions& options,
                           const std::vector<ClickPair>& kept,
                           std::span<const TextPair> pairs,
                           const TextInterner& texts) {
  // Each text counts once: a few queries that are repeated a thousand times say
  // little about the language of a log.
  StartLanguage language(*options.features.given, kept);
  absl::flat_hash_set<TextId> added;
  for (const TextPair& pair : pairs) {
    for (const TextId id : {pair.query, pair.title}) {
      if (added.insert(id).second) language.Add(texts.text(id));
    }
  }
  return language.Check(options.initial_model.version_dir);
}

// The model has learned more than this share of the pairs before.
constexpr double kMostPairs = 0.5;

void WarnIfSeen(const TrainOptions& options, const std::vector<ClickPair>& kept,
                std::span<const TextPair> pairs, const TextInterner& texts) {
  const double share = CountSeen(kept, texts, pairs).Share();
  if (share <= kMostPairs) return;
  absl::FPrintF(stderr,
                "warning: %s has learned %.0f %% of the pairs of --train "
                "before; is this the file of another day?\n",
                options.initial_model.version_dir, 100 * share);
}

// As HoldOutQueries, but a hash of the query decides, so that each run of the
// same seed holds out the same queries, whatever else its files have.
std::vector<TextPair> HoldOutQueriesByHash(double fraction, std::uint64_t seed,
                                           const TextInterner& texts,
                                           std::vector<TextPair>& pairs) {
  const TextHash hash(seed);
  // The hash is uniform over 64 bits, so a share of its values is that share of
  // all queries there can be.
  const auto below = static_cast<std::uint64_t>(std::ldexp(fraction, 64));
  return TakePairs(pairs, [&](const TextPair& pair) {
    return hash(texts.text(pair.query)) < below;
  });
}

// All runs hold out the same queries, whatever their seeds.
// The number is "judge" in ASCII.
constexpr std::uint64_t kJudgeSeed = 0x6a75646765;

// Removes nothing if fewer than two titles would be left.
std::vector<TextPair> HoldOutJudged(const DataOptions& options,
                                    const TextInterner& texts,
                                    std::vector<TextPair>& pairs) {
  if (options.judge_fraction <= 0) return {};
  std::vector<TextPair> held_out =
      HoldOutQueriesByHash(options.judge_fraction, kJudgeSeed, texts, pairs);
  if (!pairs.empty() && HasTwoTitles(pairs)) return held_out;
  pairs.insert(pairs.end(), held_out.begin(), held_out.end());
  return {};
}

// Returns the validation pairs that the options ask for; pairs that are held
// out leave `train_pairs`.
absl::StatusOr<std::vector<TextPair>> TakeValidPairs(
    const TrainOptions& options, const PositionWeights& weights,
    BadLines& bad_lines, TextInterner& texts,
    std::vector<TextPair>& train_pairs) {
  if (!options.data.valid_pair_files.empty()) {
    return ReadValidPairs(options, weights, bad_lines, texts);
  }
  if (options.data.valid_fraction <= 0) return std::vector<TextPair>();
  // A model that grows night by night must not be validated on what an earlier
  // night has learned, so there a hash decides which queries are held out.
  const double fraction = options.data.valid_fraction;
  std::vector<TextPair> held_out =
      options.features.grows_given
          ? HoldOutQueriesByHash(fraction, options.seed, texts, train_pairs)
          : HoldOutQueries(fraction, options.seed, train_pairs);
  // There are too few pairs to hold some out.
  if (!HasTwoTitles(held_out) || !HasTwoTitles(train_pairs) ||
      (options.data.default_valid_fraction &&
       held_out.size() < kMinPairsForLoss)) {
    train_pairs.insert(train_pairs.end(), held_out.begin(), held_out.end());
    held_out.clear();
    absl::FPrintF(stderr,
                  "too few pairs to hold some out: the validation loss is not "
                  "measured%s\n",
                  options.early_stopping == EpochMeasure::kNdcg
                      ? ""
                      : ", and the last epoch is published");
  }
  return held_out;
}

// Appends the pairs that the initial model has kept, but for those of `chance`,
// to the training pairs.
absl::Status AddEarlierPairs(const TrainOptions& options,
                             std::span<const TextPair> chance,
                             TextInterner& texts, PairSplit& split) {
  // Earlier pairs are not added without an initial model, nor with SSI, which
  // keeps the words of the initial model.
  if (!options.features.grows_given) return absl::OkStatus();
  const std::string& start = options.initial_model.version_dir;
  SEMRANK_ASSIGN_OR_RETURN(const std::vector<ClickPair> kept,
                           ReadKeptPairs(start));
  SEMRANK_RETURN_IF_ERROR(CheckLanguage(options, kept, split.train, texts));
  // The general model has learned from a corpus, not from clicks of this shop,
  // so its pairs are not added.
  if (options.initial_model.is_general) return absl::OkStatus();
  // Folders of events keep earlier nights.
  if (options.data.event_paths.empty()) {
    WarnIfSeen(options, kept, split.train, texts);
  }
  // The kept pairs follow the new ones, so the first num_new are those of
  // the files.
  const std::size_t num_new = split.train.size();
  split.omitted = AppendKept(kept, split.valid, chance, texts, split.train);
  split.num_earlier = static_cast<std::int64_t>(split.train.size() - num_new);
  absl::FPrintF(stderr, "%d new pairs; %d earlier ones, which %s has kept\n",
                num_new, split.num_earlier, start);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PairSplit> SplitPairs(const TrainOptions& options,
                                     const PositionWeights& weights,
                                     std::vector<TextPair> pairs,
                                     std::span<const TextPair> chance,
                                     BadLines& bad_lines, TextInterner& texts) {
  PairSplit split = {.train = std::move(pairs)};
  split.judged_new = HoldOutJudged(options.data, texts, split.train);
  split.is_valid_held_out = options.data.valid_pair_files.empty();
  SEMRANK_ASSIGN_OR_RETURN(
      split.valid,
      TakeValidPairs(options, weights, bad_lines, texts, split.train));
  SEMRANK_RETURN_IF_ERROR(AddEarlierPairs(options, chance, texts, split));
  // The earlier pairs have queries for judging too, of the nights that they
  // are from.
  if (split.num_earlier > 0) {
    split.judged_earlier = HoldOutJudged(options.data, texts, split.train);
    split.num_earlier -= std::ssize(split.judged_earlier);
  }
  if (options.data.judge_fraction > 0) {
    absl::FPrintF(stderr,
                  "%d new and %d earlier pairs are not learned from, so that "
                  "they judge this model or later ones\n",
                  split.judged_new.size(), split.judged_earlier.size());
  }
  return split;
}

namespace {

// Appends `new_pairs`, and those of `earlier` that they lack. A folder of
// events has the clicks of earlier nights again, so a sum of both would grow
// each night.
void AppendHeldOut(std::span<const TextPair> new_pairs,
                   std::span<const TextPair> earlier,
                   std::vector<TextPair>& pairs) {
  absl::flat_hash_set<std::pair<TextId, TextId>> known;
  for (const TextPair& pair : new_pairs) {
    known.emplace(pair.query, pair.title);
    pairs.push_back(pair);
  }
  std::ranges::copy_if(earlier, std::back_inserter(pairs),
                       [&](const TextPair& pair) {
                         return !known.contains({pair.query, pair.title});
                       });
}

}  // namespace

std::string FormatPairsToKeep(const DataOptions& options,
                              const TextInterner& texts,
                              const PairSplit& split) {
  std::vector<TextPair> pairs = split.train;
  // Pairs that this run held out are new to the next one, which may learn from
  // them. Pairs of --valid_pairs are not of this log.
  AppendHeldOut(split.held_out(), split.omitted, pairs);
  AppendHeldOut(split.judged_new, split.judged_earlier, pairs);
  return FormatKeptPairs(texts, pairs, options.keep_pairs);
}

}  // namespace semrank
