// The texts of one training step, and which titles each query is compared with.
#ifndef SEMRANK_MODEL_TRAIN_BATCHES_MINI_BATCH_H_
#define SEMRANK_MODEL_TRAIN_BATCHES_MINI_BATCH_H_

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "model/data/text_table.h"
#include "model/text/bag_batch.h"

namespace semrank {

// The texts of one step. Pair i is (queries[i], titles[i]); titles that were
// drawn beside them follow, each once.
struct MiniBatch {
  // The features of each TextId; outlives the batch.
  const TextBags* bags = nullptr;
  std::vector<TextId> queries;
  std::vector<TextId> titles;
  // Each query is compared with the clicked titles of all pairs, except those
  // that are masked.
  bool all_titles = false;
  // With in-batch negatives, bag i holds the positions below num_pairs(), in
  // ascending order, of titles that were clicked for query i, its own among
  // them. None of them is a negative of pair i. `counts` is not used.
  BagBatch masked;
  // Bag i holds the positions in `titles` of pair i's clicked title, then of
  // its negatives, perhaps with repeats. With all_titles it holds only the
  // negatives in addition to those of the batch; no bags = none. `counts` is
  // not used.
  BagBatch candidates;

  // What --logq subtracts from the logit of each title; empty = 0.
  std::vector<float> corrections;

  // Weight of each pair's loss in the mean, positive. Empty = all 1.
  std::vector<float> weights;

  int num_pairs() const { return static_cast<int>(queries.size()); }
  int num_titles() const { return static_cast<int>(titles.size()); }
  std::span<const std::uint32_t> MaskedFor(int pair) const {
    return masked.Indices(pair);
  }
  float weight(int pair) const { return weights.empty() ? 1 : weights[pair]; }
  double total_weight() const {
    return weights.empty()
               ? num_pairs()
               : std::accumulate(weights.begin(), weights.end(), 0.0);
  }
};

// Cuts a number of pairs into mini-batches whose sizes differ by at most 1: a
// short last batch would be a noisy step of full length.
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

#endif  // SEMRANK_MODEL_TRAIN_BATCHES_MINI_BATCH_H_
