#include "model/train/optimizer/parameter_optimizer.h"

#include <cassert>
#include <cmath>
#include <numbers>

#include "model/train/optimizer/update_rules.h"
#include "model/train/options/model_size.h"

namespace semrank {

ParameterOptimizer::ParameterOptimizer(const OptimizerOptions& options,
                                       std::span<float> weights)
    : kind_(options.kind), weights_(weights) {
  const int state_size = OptimizerStateSize(kind_);
  if (state_size > 0) second_moments_.assign(weights.size(), 0);
  if (state_size > 1) first_moments_.assign(weights.size(), 0);
}

void ParameterOptimizer::AppendState(const std::string& name,
                                     std::vector<StateTensor>& state) {
  state.push_back({name, weights_});
  if (!first_moments_.empty()) {
    state.push_back({name + ".first_moments", first_moments_});
  }
  if (!second_moments_.empty()) {
    state.push_back({name + ".second_moments", second_moments_});
  }
}

void ParameterOptimizer::BeginStep(double learning_rate) {
  ++step_;
  step_size_ = static_cast<float>(learning_rate);
  if (kind_ != v1::OPTIMIZER_ADAM) return;
  // Bias correction: m and v begin at 0 and are too small by 1 - b^step. It is
  // the same for all weights of a step, so it goes into two factors. They are
  // computed in double, because 1 - b2^step is near 0.001 at first.
  const double step = static_cast<double>(step_);
  step_size_ =
      static_cast<float>(learning_rate / (1 - std::pow(kAdamBeta1, step)));
  second_scale_ =
      static_cast<float>(1 / std::sqrt(1 - std::pow(kAdamBeta2, step)));
}

void ParameterOptimizer::Prefetch(std::size_t first, std::size_t count) const {
  constexpr std::size_t kCacheLineFloats = 16;  // 64 bytes
  for (std::size_t i = first; i < first + count; i += kCacheLineFloats) {
    __builtin_prefetch(weights_.data() + i, /*rw=*/0, 2);
    if (!first_moments_.empty()) __builtin_prefetch(&first_moments_[i], 1);
    if (!second_moments_.empty()) __builtin_prefetch(&second_moments_[i], 1);
  }
}

void ParameterOptimizer::Update(std::size_t first,
                                std::span<const float> gradient) {
  assert(first + gradient.size() <= weights_.size());
  const std::size_t count = gradient.size();
  // A layer without biases has an empty gradient, whose vectors are empty too.
  if (count == 0) return;
  if (kind_ == v1::OPTIMIZER_ADAM) {
    UpdateAdam({step_size_, second_scale_}, gradient.data(), count,
               &first_moments_[first], &second_moments_[first],
               &weights_[first]);
  } else if (kind_ == v1::OPTIMIZER_ADAGRAD) {
    UpdateAdagrad(step_size_, gradient.data(), count, &second_moments_[first],
                  &weights_[first]);
  } else {
    UpdateSgd(step_size_, gradient.data(), count, &weights_[first]);
  }
}

double LearningRate(const OptimizerOptions& options, std::int64_t batch,
                    std::int64_t total_batches) {
  const double rate = options.learning_rate;
  const std::int64_t warmup = options.warmup_batches;
  if (batch < warmup) {
    return rate * static_cast<double>(batch + 1) /
           static_cast<double>(warmup + 1);
  }
  // `left` is 1 for the first batch after the warm-up and 1 / (T - W) for the
  // last one, so the rate is never 0.
  const double left = static_cast<double>(total_batches - batch) /
                      static_cast<double>(total_batches - warmup);
  if (options.decay == v1::LEARNING_RATE_DECAY_LINEAR) return rate * left;
  if (options.decay != v1::LEARNING_RATE_DECAY_COSINE) return rate;
  const double wave = (1 - std::cos(std::numbers::pi * left)) / 2;
  return rate * (kCosineDecayEnd + (1 - kCosineDecayEnd) * wave);
}

}  // namespace semrank
