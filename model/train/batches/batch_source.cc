#include "model/train/batches/batch_source.h"

#include "model/train/batches/shuffled_pairs.h"
#include "model/train/batches/streamed_pairs.h"

namespace semrank {

absl::StatusOr<std::unique_ptr<BatchSource>> MakeBatchSource(
    const TrainOptions& options, const TrainingData& data) {
  if (data.stream != nullptr) return StreamedPairs::Create(options, data);
  return ShuffledPairs::Create(options, data);
}

}  // namespace semrank
