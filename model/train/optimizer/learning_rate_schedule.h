// The learning rate of each mini-batch of a run, a function of its number
// alone: with b counted from 0 over all epochs, W = warmup_batches and
// T = total_batches,
//
//   b < W            rate (b + 1) / (W + 1)
//   then, none       rate
//         linear     rate (T - b) / (T - W)
//
// so no batch is wasted on a rate of 0, and the pieces meet at the full rate.
#ifndef SEMRANK_MODEL_TRAIN_OPTIMIZER_LEARNING_RATE_SCHEDULE_H_
#define SEMRANK_MODEL_TRAIN_OPTIMIZER_LEARNING_RATE_SCHEDULE_H_

#include <cstdint>

#include "model/train/options/optimizer_options.h"

namespace semrank {

class LearningRateSchedule {
 public:
  // `options` are resolved; `total_batches`: those of all epochs.
  LearningRateSchedule(const OptimizerOptions& options,
                       std::int64_t total_batches)
      : options_(options), total_batches_(total_batches) {}

  // `batch` in [0, total_batches). Always positive.
  double Rate(std::int64_t batch) const;

 private:
  OptimizerOptions options_;
  std::int64_t total_batches_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_OPTIMIZER_LEARNING_RATE_SCHEDULE_H_
