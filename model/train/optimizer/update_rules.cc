#include "model/train/optimizer/update_rules.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/train/optimizer/update_rules.cc"
#include <hwy/foreach_target.h>  // before all that includes highway.h
#include <hwy/highway.h>

#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace semrank::HWY_NAMESPACE {
namespace {

constexpr float kEpsilon = 1e-8f;

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
void StepAdam(const AdamStep& step, const float* __restrict gradient,
              std::size_t count, float* __restrict first_moments,
              float* __restrict second_moments, float* __restrict weights) {
  constexpr float kRate1 = static_cast<float>(1 - kAdamBeta1);
  constexpr float kRate2 = static_cast<float>(1 - kAdamBeta2);
  for (std::size_t i = 0; i < count; ++i) {
    const float g = gradient[i];
    const float m = first_moments[i] + kRate1 * (g - first_moments[i]);
    const float v = second_moments[i] + kRate2 * (g * g - second_moments[i]);
    first_moments[i] = m;
    second_moments[i] = v;
    weights[i] -=
        step.step_size * m / (std::sqrt(v) * step.second_scale + kEpsilon);
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

void UpdateSgd(float rate, const float* gradient, std::size_t count,
               float* weights) {
  HWY_DYNAMIC_DISPATCH(StepSgd)(rate, gradient, count, weights);
}

void UpdateAdagrad(float rate, const float* gradient, std::size_t count,
                   float* square_sums, float* weights) {
  HWY_DYNAMIC_DISPATCH(StepAdagrad)
  (rate, gradient, count, square_sums, weights);
}

void UpdateAdam(const AdamStep& step, const float* gradient, std::size_t count,
                float* first_moments, float* second_moments, float* weights) {
  HWY_DYNAMIC_DISPATCH(StepAdam)
  (step, gradient, count, first_moments, second_moments, weights);
}

}  // namespace semrank
#endif  // HWY_ONCE
