// Adds up the gradients of processes that each have those of their own texts.
// Dense tensors are reduced; of the others the rows travel with their numbers,
// and a row that several processes have is their sum, in their order.
//
//   Result   the same bits in every process.
//   Memory   the rows of all processes.
//   Threads  one thread calls; the pool adds up rows.
#ifndef SEMRANK_MODEL_TRAIN_DISTRIBUTED_GRADIENT_EXCHANGE_H_
#define SEMRANK_MODEL_TRAIN_DISTRIBUTED_GRADIENT_EXCHANGE_H_

#include <cstdint>
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
  // Replaces the gradients by their sums. ResourceExhausted, everywhere, when
  // the rows of all processes are more than kMaxExchange floats.
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

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DISTRIBUTED_GRADIENT_EXCHANGE_H_
