// The softmax of one clicked title among its negatives (DSSM eq. 6), in place.
//
//   Threads  thread-safe on disjoint arrays.
//   Results  the same bits at every level of simd_level.h.
#ifndef SEMRANK_MODEL_TRAIN_TOWERS_SOFTMAX_H_
#define SEMRANK_MODEL_TRAIN_TOWERS_SOFTMAX_H_

#include <span>

namespace semrank {

// The logit of a title that does not count; its probability is exactly 0.
inline constexpr float kLeftOut = -1e30f;

// e^x for x <= 0 within 2e-7 of the value; 0 below -87.
void ExpNonPositive(std::span<float> values);

struct SoftmaxResult {
  // -log P(D+ | Q), eq. 9; 0 when no negative counts.
  double loss = 0;
  // Sum of the negatives' probabilities, 1 - P(D+ | Q).
  float negative_probability = 0;
};

// Logits are gamma x cosine. Replaces each negative's logit by its probability,
// the weight -alpha_j / gamma of eq. 14.
SoftmaxResult SoftmaxNegatives(float positive_logit,
                               std::span<float> negatives);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_TOWERS_SOFTMAX_H_
