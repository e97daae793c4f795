// AllReduce of gradients: each process has the gradients of its own texts, and
// gets the sums over all processes. Dense tensors are summed element by
// element. The rows of sparse tensors are gathered with their numbers, and a
// row that several processes have is summed in the order of their ranks.
//
//   Result   is the same in every process, to the bit.
//   Memory   the rows of all processes.
//   Threads  one thread calls; the pool sums rows.
#ifndef SEMRANK_MODEL_TRAIN_DISTRIBUTED_GRADIENT_EXCHANGE_H_
#define SEMRANK_MODEL_TRAIN_DISTRIBUTED_GRADIENT_EXCHANGE_H_

#include <vector>

#include "absl/status/status.h"
#include "model/base/thread_pool.h"
#include "model/text/bag_batch.h"
#include "model/train/batches/bag_transpose.h"
#include "model/train/distributed/communicator.h"
#include "model/train/optimizer/gradient_set.h"

namespace semrank {

class GradientExchange {
 public:
  // Replaces the gradients by their sums. ResourceExhausted, in all processes,
  // when their rows are more than kMaxMessageValues floats.
  absl::Status Reduce(const GradientSet& gradients, Communicator& communicator,
                      ThreadPool& pool);

 private:
  void ReduceDense(const GradientSet& gradients, Communicator& communicator);
  absl::Status ReduceRows(RowGradients& gradients, Communicator& communicator,
                          ThreadPool& pool);

  std::vector<float> dense_;       // all tensors, one after another
  std::vector<float> all_values_;  // [rows of all processes, width]
  BagBatch all_rows_;              // the row number of each, once
  BagTranspose by_row_;
};

// AllGather of bags: fills `all` with the bags of rank 0, then those of rank 1,
// and so on. ResourceExhausted, in all processes, when they have more than
// kMaxMessageValues entries.
absl::Status GatherBags(const BagBatch& own, Communicator& communicator,
                        BagBatch& all);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DISTRIBUTED_GRADIENT_EXCHANGE_H_
