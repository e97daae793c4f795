#include "model/train/optimizer/parameter_optimizer.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/train/optimizer/parameter_optimizer.cc"
#include <hwy/foreach_target.h>  // before all that includes highway.h
#include <hwy/highway.h>

#include <cassert>
#include <cmath>
#include <numbers>

#include "model/train/options/model_size.h"

HWY_BEFORE_NAMESPACE();
namespace semrank::HWY_NAMESPACE {
namespace {

constexpr float kEpsilon = 1e-8f;

// The defaults of Kingma and Ba (2015).
constexpr double kAdamBeta1 = 0.9;
constexpr double kAdamBeta2 = 0.999;

// w -= rate g (DSSM eq. 8).
void StepSgd(float rate, const float* __restrict gradient, std::size_t count,
             float* __restrict weights) {
  for (std::size_t i = 0; i < count; ++i) weights[i] -= rate * gradient[i];
}

// s += g^2, w -= rate g / (sqrt(s) + e) (Duchi, Hazan and Singer, 2011).
void StepAdagrad(float rate, const float* __restrict gradient,
                 std::size_t count, float* __restrict square_sums,
                 float* __restrict weights) {
  for (std::size_t i = 0; i < count; ++i) {
    const float g = gradient[i];
    const float s = square_sums[i] + g * g;
    square_sums[i] = s;
    weights[i] -= rate * g / (std::sqrt(s) + kEpsilon);
  }
}

// m += (1 - b1)(g - m), v += (1 - b2)(g^2 - v), w -= rate m' / (sqrt(v') + e)
// (Kingma and Ba, 2015); step_size and second_scale have the corrections of m'
// and v'.
void StepAdam(float step_size, float second_scale,
              const float* __restrict gradient, std::size_t count,
              float* __restrict first_moments, float* __restrict second_moments,
              float* __restrict weights) {
  constexpr float kRate1 = static_cast<float>(1 - kAdamBeta1);
  constexpr float kRate2 = static_cast<float>(1 - kAdamBeta2);
  for (std::size_t i = 0; i < count; ++i) {
    const float g = gradient[i];
    const float m = first_moments[i] + kRate1 * (g - first_moments[i]);
    const float v = second_moments[i] + kRate2 * (g * g - second_moments[i]);
    first_moments[i] = m;
    second_moments[i] = v;
    weights[i] -= step_size * m / (std::sqrt(v) * second_scale + kEpsilon);
  }
}

}  // namespace
}  // namespace semrank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace semrank {

HWY_EXPORT(StepSgd);
HWY_EXPORT(StepAdagrad);
HWY_EXPORT(StepAdam);

ParameterOptimizer::ParameterOptimizer(const OptimizerOptions& options,
                                       std::span<float> weights)
    : kind_(options.kind), weights_(weights) {
  const int state_size = OptimizerStateSize(kind_);
  if (state_size > 0) second_moments_.assign(weights.size(), 0);
  if (state_size > 1) first_moments_.assign(weights.size(), 0);
}

void ParameterOptimizer::AppendState(const std::string& name,
                                     std::vector<StateTensor>& state) {
  // The names are those in checkpoints: others would lose the state of a
  // resumed run.
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
  step_size_ = static_cast<float>(
      learning_rate / (1 - std::pow(HWY_NAMESPACE::kAdamBeta1, step)));
  second_scale_ = static_cast<float>(
      1 / std::sqrt(1 - std::pow(HWY_NAMESPACE::kAdamBeta2, step)));
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
    HWY_DYNAMIC_DISPATCH(StepAdam)
    (step_size_, second_scale_, gradient.data(), count, &first_moments_[first],
     &second_moments_[first], &weights_[first]);
  } else if (kind_ == v1::OPTIMIZER_ADAGRAD) {
    HWY_DYNAMIC_DISPATCH(StepAdagrad)
    (step_size_, gradient.data(), count, &second_moments_[first],
     &weights_[first]);
  } else {
    HWY_DYNAMIC_DISPATCH(StepSgd)
    (step_size_, gradient.data(), count, &weights_[first]);
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
#endif  // HWY_ONCE
