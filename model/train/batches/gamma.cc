#include "model/train/batches/gamma.h"

#include "model/data/text_pairs.h"

namespace semrank {

double ChooseGamma(const TrainOptions& options, const TrainingData& data) {
  if (options.loss.gamma != kAutoGamma) return options.loss.gamma;
  if (data.stream != nullptr) return kDefaultGamma;
  // Measured: with fewer queries a lower gamma gains, with more it costs a
  // little (RESULTS.md, "Gamma and the number of queries").
  const bool are_few = DistinctQueries(data.train_pairs).size() < kFewQueries;
  return are_few ? kFewQueriesGamma : kDefaultGamma;
}

}  // namespace semrank
