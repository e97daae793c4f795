#include "model/train/batches/make_batch_source.h"

#include "model/train/batches/in_memory_batches.h"
#include "model/train/batches/streaming_batches.h"

namespace semrank {

absl::StatusOr<std::unique_ptr<BatchSource>> MakeBatchSource(
    const TrainOptions& options, const TrainingData& data) {
  if (data.stream != nullptr) return StreamingBatches::Create(options, data);
  return InMemoryBatches::Create(options, data);
}

}  // namespace semrank
