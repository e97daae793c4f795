#include "model/train/optimizer/learning_rate_schedule.h"

namespace semrank {

double LearningRateSchedule::Rate(std::int64_t batch) const {
  const double rate = options_.learning_rate;
  const std::int64_t warmup = options_.warmup_batches;
  if (batch < warmup) {
    return rate * static_cast<double>(batch + 1) /
           static_cast<double>(warmup + 1);
  }
  if (options_.decay != v1::LEARNING_RATE_DECAY_LINEAR) return rate;
  return rate * static_cast<double>(total_batches_ - batch) /
         static_cast<double>(total_batches_ - warmup);
}

}  // namespace semrank
