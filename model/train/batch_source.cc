#include "model/train/batch_source.h"

#include "model/train/shuffled_pairs.h"

namespace semrank {

absl::StatusOr<std::unique_ptr<BatchSource>> MakeBatchSource(
    const TrainOptions& options, const TrainingData& data) {
  return ShuffledPairs::Create(options, data);
}

}  // namespace semrank
