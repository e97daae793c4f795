// The mini-batches of a training run: the pairs of each epoch in a different
// order, with the titles that they are compared with.
//
//   Epochs    contain every pair once (--clicks=repeat: as often as it was
//             clicked).
//   Position  the numbers of an epoch and of a batch in it are enough to
//             continue where another run stopped.
//   Promise   the seed and the files decide every batch, not the threads.
//   Threads   one thread at a time calls.
#ifndef SEMRANK_MODEL_TRAIN_BATCHES_BATCH_SOURCE_H_
#define SEMRANK_MODEL_TRAIN_BATCHES_BATCH_SOURCE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/train/batches/mini_batch.h"

namespace semrank {

class BatchSource {
 public:
  virtual ~BatchSource() = default;

  // Sizes of an epoch; a pair that is repeated counts as often.
  virtual std::int64_t num_pairs() const = 0;
  virtual std::int64_t num_batches() const = 0;

  // The next batch will be number `first_batch`, counted from 0, of `epoch`,
  // counted from 1.
  virtual absl::Status BeginEpoch(int epoch, std::int64_t first_batch) = 0;
  // Null after the last batch of the epoch; otherwise valid until the next
  // call.
  virtual absl::StatusOr<const MiniBatch*> Next() = 0;
  // Does part of the work of the following Next, so that it returns sooner. May
  // run in any thread while the batch that Next returned is in use.
  virtual void PrepareNext() {}
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_BATCHES_BATCH_SOURCE_H_
