// Cuts a number of pairs into mini-batches of equal size, give or take one:
// a short last batch would be a noisy step of full length.
#ifndef SEMRANK_MODEL_TRAIN_BATCH_PLAN_H_
#define SEMRANK_MODEL_TRAIN_BATCH_PLAN_H_

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

  // The pairs of batch `index`, out of all.
  template <typename T>
  std::span<const T> Batch(std::span<const T> pairs, std::int64_t index) const {
    const std::int64_t first = num_pairs_ * index / num_batches_;
    const std::int64_t last = num_pairs_ * (index + 1) / num_batches_;
    return pairs.subspan(first, last - first);
  }

 private:
  std::int64_t num_pairs_;
  std::int64_t num_batches_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_BATCH_PLAN_H_
