// Cuts a number of pairs into mini-batches whose sizes differ by at most 1: a
// short last batch would be a noisy step of full length.
#ifndef SEMRANK_MODEL_TRAIN_BATCHES_BATCH_PLAN_H_
#define SEMRANK_MODEL_TRAIN_BATCHES_BATCH_PLAN_H_

#include <cstdint>
#include <span>

namespace semrank {

class BatchPlan {
 public:
  // No batch gets more than batch_size pairs.
  BatchPlan(std::int64_t num_pairs, int batch_size)
      : num_pairs_(num_pairs),
        num_batches_((num_pairs + batch_size - 1) / batch_size) {}

  std::int64_t num_batches() const { return num_batches_; }

  // The number of the first pair of batch `index`, which may be one past the
  // last.
  std::int64_t First(std::int64_t index) const {
    return num_pairs_ * index / num_batches_;
  }

  // The pairs of batch `index`, out of all.
  template <typename T>
  std::span<const T> Batch(std::span<const T> pairs, std::int64_t index) const {
    return pairs.subspan(First(index), First(index + 1) - First(index));
  }

 private:
  std::int64_t num_pairs_;
  std::int64_t num_batches_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_BATCHES_BATCH_PLAN_H_
