// The mini-batches of a data set, whether it is in memory or streaming.
#ifndef SEMRANK_MODEL_TRAIN_BATCHES_MAKE_BATCH_SOURCE_H_
#define SEMRANK_MODEL_TRAIN_BATCHES_MAKE_BATCH_SOURCE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "model/train/batches/batch_source.h"
#include "model/train/data/training_data.h"
#include "model/train/options/train_options.h"

namespace semrank {

// `options` are resolved; both outlive the source. ResourceExhausted when an
// epoch would have too many pairs.
absl::StatusOr<std::unique_ptr<BatchSource>> MakeBatchSource(
    const TrainOptions& options, const TrainingData& data);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_BATCHES_MAKE_BATCH_SOURCE_H_
