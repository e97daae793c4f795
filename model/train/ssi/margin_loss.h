// The margin ranking loss of a mini-batch (SSI 2.3) and its gradient with
// respect to the scores:
//
//   loss = mean over pairs of the mean over their D- of
//          max(0, margin - f(q, d+) + f(q, d-))
//
// The gradient is 0 except where the margin is violated, so it is kept as a
// list: bag i of Violations has (place in batch.titles, dloss/df) of pair i,
// the violating titles in order, then the clicked one.
//
//   Share    one of several processes computes it for a range of the pairs; the
//            pairs of the others have empty bags. The loss is the sum of all
//            shares.
//   Promise  every number is computed in one order, whatever the threads.
//   Threads  Compute is called by one thread; it uses the pool.
#ifndef SEMRANK_MODEL_TRAIN_SSI_MARGIN_LOSS_H_
#define SEMRANK_MODEL_TRAIN_SSI_MARGIN_LOSS_H_

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "model/base/thread_pool.h"
#include "model/train/batches/batch_share.h"
#include "model/train/batches/mini_batch.h"

namespace semrank {

class MarginLoss {
 public:
  // scores[k] = f(query of `pair`, batch.titles[titles[k]]), for any worker of
  // the pool.
  using ScoreTitles =
      std::function<void(int pair, std::span<const std::uint32_t> titles,
                         std::span<float> scores, int worker)>;

  explicit MarginLoss(double margin) : margin_(static_cast<float>(margin)) {}

  // Returns what `pairs` add to the mean loss a pair of the batch: NaN when a
  // score is not a number, 0 for a pair without D-. Replaces violations().
  double Compute(const MiniBatch& batch, Range pairs,
                 const ScoreTitles& score_titles, ThreadPool& pool);

  const BagBatch& violations() const { return violations_; }

 private:
  // The memory of a worker for one pair.
  struct Scratch {
    std::vector<std::uint32_t> titles;
    std::vector<float> scores;
  };
  // Violations and losses of a block of pairs.
  struct Block {
    BagBatch violations;
    double loss = 0;
  };

  // The loss of a pair that makes up `share` of the mean.
  double AddPair(const Scratch& scratch, double share,
                 BagBatch& violations) const;

  float margin_;
  std::vector<Scratch> scratch_;  // by worker
  std::vector<Block> blocks_;
  BagBatch violations_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_SSI_MARGIN_LOSS_H_
