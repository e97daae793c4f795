// One step of each optimizer on `count` weights.
//
//   Shapes   gradient, weights and moments [count]; they do not overlap.
//   Threads  thread-safe on disjoint weights.
//   Results  are the same to the bit at every level of simd_level.h: no
//            operations are fused.
#ifndef SEMRANK_MODEL_TRAIN_OPTIMIZER_UPDATE_RULES_H_
#define SEMRANK_MODEL_TRAIN_OPTIMIZER_UPDATE_RULES_H_

#include <cstddef>

namespace semrank {

// The defaults of Kingma and Ba (2015).
inline constexpr double kAdamBeta1 = 0.9;
inline constexpr double kAdamBeta2 = 0.999;

void UpdateSgd(float rate, const float* gradient, std::size_t count,
               float* weights);

void UpdateAdagrad(float rate, const float* gradient, std::size_t count,
                   float* square_sums, float* weights);

// The learning rate and the corrections of both moments' bias.
struct AdamStep {
  float step_size;
  float second_scale;
};

void UpdateAdam(const AdamStep& step, const float* gradient, std::size_t count,
                float* first_moments, float* second_moments, float* weights);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_OPTIMIZER_UPDATE_RULES_H_
