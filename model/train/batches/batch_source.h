// Where the mini-batches of a training run come from: the pairs of each epoch
// in an order of its own, with the titles they are told apart from.
//
//   Epochs   every pair once (--clicks=repeat: as often as it was clicked).
//   Position an epoch's number and a batch's number in it are all that it
//            takes to go on where another run was.
//   Promise  the seed and the files decide every batch, not the threads.
//   Threads  one at a time.
#ifndef SEMRANK_MODEL_TRAIN_BATCHES_BATCH_SOURCE_H_
#define SEMRANK_MODEL_TRAIN_BATCHES_BATCH_SOURCE_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/train/batches/negative_sampler.h"
#include "model/train/data/training_data.h"
#include "model/train/options/train_options.h"

namespace semrank {

class BatchSource {
 public:
  virtual ~BatchSource() = default;

  // Of every epoch; a pair that is repeated counts as often.
  virtual std::int64_t num_pairs() const = 0;
  virtual std::int64_t num_batches() const = 0;

  // The next batch will be number `first_batch`, counted from 0, of `epoch`,
  // counted from 1.
  virtual absl::Status BeginEpoch(int epoch, std::int64_t first_batch) = 0;
  // Null after the last batch of the epoch; otherwise valid until the next
  // call.
  virtual absl::StatusOr<const MiniBatch*> Next() = 0;
  // Does what it can of the next call, so that this is short. In any thread,
  // while the batch that Next returned is in use.
  virtual void PrepareNext() {}
};

// `options` are resolved; both outlive the source. ResourceExhausted when an
// epoch would have too many pairs.
absl::StatusOr<std::unique_ptr<BatchSource>> MakeBatchSource(
    const TrainOptions& options, const TrainingData& data);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_BATCHES_BATCH_SOURCE_H_
