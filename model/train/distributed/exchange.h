// What the processes send each other in a step: vectors, bags and gradients.
//
//   Result   is the same in every process, to the bit.
//   Threads  one thread calls, in every process.
#ifndef SEMRANK_MODEL_TRAIN_DISTRIBUTED_EXCHANGE_H_
#define SEMRANK_MODEL_TRAIN_DISTRIBUTED_EXCHANGE_H_

#include <vector>

#include "absl/status/status.h"
#include "model/text/bag_batch.h"
#include "model/train/batches/bag_transpose.h"
#include "model/train/batches/mini_batch.h"
#include "model/train/distributed/communicator.h"
#include "model/train/optimizer/gradient_set.h"

namespace semrank {

// AllReduce of gradients: each process has the gradients of its own texts, and
// gets the sums over all processes. Dense tensors are summed element by
// element. The rows of sparse tensors are gathered with their numbers, and a
// row that several processes have is summed in the order of their ranks.
//
//   Memory   the rows of all processes.
class GradientExchange {
 public:
  // Replaces the gradients by their sums. ResourceExhausted, in all processes,
  // when their rows are more than kMaxMessageValues floats.
  absl::Status Reduce(const GradientSet& gradients, const Workers& workers);

 private:
  void ReduceDense(const GradientSet& gradients, Communicator& communicator);
  absl::Status ReduceRows(RowGradients& gradients, const Workers& workers);

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

// Gathers the vectors of a whole mini-batch from the processes that each
// embedded a share of it, so that the negatives of a pair are those of a single
// process; and cuts the gradients of the own share out of those of the batch.
// Every process computes the loss of the whole batch: it costs less than one
// layer, and all of them have the same loss, to the bit.
//
//   Shapes   row-major: queries [num_pairs, dim], titles [num_titles, dim].
class VectorExchange {
 public:
  explicit VectorExchange(int dim) : dim_(dim) {}

  // `queries` and `titles` are the vectors of this process's share of the
  // batch: its queries; its clicked titles, then its drawn ones.
  void Gather(const MiniBatch& batch, const float* queries, const float* titles,
              Communicator& communicator);
  // These belong to the whole batch, until the next call. The caller fills the
  // gradients.
  const float* queries() const { return queries_.data(); }
  const float* titles() const { return titles_.data(); }
  float* query_gradients() { return query_gradients_.data(); }
  float* title_gradients() { return title_gradients_.data(); }
  // Copies the gradients of this process's share.
  void CutOut(const BatchShare& share, float* query_gradients,
              float* title_gradients) const;

 private:
  int dim_;
  std::vector<float> queries_, titles_;
  std::vector<float> query_gradients_, title_gradients_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DISTRIBUTED_EXCHANGE_H_
