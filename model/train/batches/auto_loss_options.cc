#include "model/train/batches/auto_loss_options.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "model/train/data/read_pairs.h"

namespace semrank {
namespace {

// Number of pairs in an epoch, by title.
std::vector<std::int64_t> CountPairs(const LossOptions& options,
                                     std::span<const TextPair> pairs) {
  std::vector<std::int64_t> counts;
  for (const TextPair& pair : pairs) {
    if (pair.title >= counts.size()) counts.resize(pair.title + 1);
    counts[pair.title] += Repetitions(pair.clicks, options);
  }
  return counts;
}

}  // namespace

std::vector<float> LogQCorrections(const LossOptions& options,
                                   std::span<const TextPair> pairs) {
  std::vector<float> values;
  if (options.logq == 0) return values;
  for (const std::int64_t count : CountPairs(options, pairs)) {
    const double n = static_cast<double>(std::max<std::int64_t>(count, 1));
    values.push_back(static_cast<float>(options.logq * std::log(n)));
  }
  return values;
}

double MeanPairsOfTheSameTitle(const TrainOptions& options,
                               std::span<const TextPair> pairs) {
  double num_pairs = 0, num_equal = 0;
  for (const std::int64_t count : CountPairs(options.loss, pairs)) {
    const double n = static_cast<double>(count);
    num_pairs += n;
    num_equal += n * (n - 1);
  }
  if (num_pairs < 2) return 0;
  // A mini-batch is a random sample of the epoch: of the others that have the
  // title there, it has this share.
  const double others = std::min<double>(options.batch_size, num_pairs) - 1;
  return num_equal / num_pairs * others / (num_pairs - 1);
}

double ChooseGamma(const TrainOptions& options, const TrainingData& data) {
  if (options.loss.gamma != kAutoGamma) return options.loss.gamma;
  if (data.stream != nullptr) return kManyQueriesGamma;
  // A lower gamma gains with few queries and costs a little with many
  // (RESULTS.md, "Gamma and the number of queries").
  const bool are_few = DistinctQueries(data.train_pairs).size() < kManyQueries;
  return are_few ? kFewQueriesGamma : kManyQueriesGamma;
}

double ChooseLogQ(const TrainOptions& options, const TrainingData& data) {
  if (options.loss.logq != kAutoLogQ) return options.loss.logq;
  if (data.stream != nullptr) return 0;
  // Where titles are rarer than that, the correction costs a little
  // (RESULTS.md, "Flags beside the default").
  const bool are_popular =
      MeanPairsOfTheSameTitle(options, data.train_pairs) > 1;
  return are_popular ? kPopularTitlesLogQ : 0;
}

EpochMeasure ChooseEpochMeasure(const TrainOptions& options,
                                const TrainingData& data) {
  if (options.early_stopping != EpochMeasure::kAuto) {
    return options.early_stopping;
  }
  return data.valid_pairs.size() >= kMinPairsForLoss ? EpochMeasure::kLoss
                                                     : EpochMeasure::kLast;
}

}  // namespace semrank
