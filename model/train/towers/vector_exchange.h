// Gathers the vectors of a whole mini-batch from the processes that each
// embedded a share of it, so that the negatives of a pair are those of a single
// process; and cuts the gradients of the own share out of those of the batch.
// Every process computes the loss of the whole batch: it costs less than one
// layer, and all of them have the same loss, to the bit.
//
//   Shapes   row-major: queries [num_pairs, dim], titles [num_titles, dim].
//   Threads  one thread calls, in every process.
#ifndef SEMRANK_MODEL_TRAIN_TOWERS_VECTOR_EXCHANGE_H_
#define SEMRANK_MODEL_TRAIN_TOWERS_VECTOR_EXCHANGE_H_

#include <vector>

#include "model/train/batches/mini_batch.h"
#include "model/train/distributed/communicator.h"
#include "model/train/towers/softmax_loss.h"

namespace semrank {

class VectorExchange {
 public:
  explicit VectorExchange(int dim) : dim_(dim) {}

  // `own`: the vectors of ShareOf(batch, process, num_processes): its queries;
  // its clicked titles, then its drawn ones. Valid until the next call.
  LossInput Gather(const LossInput& own, Communicator& communicator);
  // The loss writes the gradients of the gathered vectors here.
  LossGradients gradients();
  // Copies the gradients of this process's share to `own`.
  void CutOut(const MiniBatch& batch, const Communicator& communicator,
              const LossGradients& own) const;

 private:
  int dim_;
  std::vector<float> queries_, titles_;
  std::vector<float> query_gradients_, title_gradients_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_TOWERS_VECTOR_EXCHANGE_H_
