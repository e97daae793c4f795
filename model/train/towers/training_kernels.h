// The loops over the elements of one row in a training step: the softmax of a
// clicked title among its negatives, derivatives of activations, and dropout.
//
//   Shapes   arrays of one call have the same length and do not overlap.
//   Threads  thread-safe on disjoint outputs, but for Dropout::SetStep.
//   Results  the same bits at every level of simd_level.h: no operations are
//            fused.
#ifndef SEMRANK_MODEL_TRAIN_TOWERS_TRAINING_KERNELS_H_
#define SEMRANK_MODEL_TRAIN_TOWERS_TRAINING_KERNELS_H_

#include <cstddef>
#include <cstdint>
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

// The softmax of one clicked title among its negatives (DSSM eq. 6). Logits are
// gamma x cosine. Replaces each negative's logit by its probability,
// the weight -alpha_j / gamma of eq. 14.
SoftmaxResult SoftmaxNegatives(float positive_logit,
                               std::span<float> negatives);

// deltas[i] *= tanh'(z) = (1 - y)(1 + y) with y = tanh(z) = outputs[i] (DSSM
// eq. 16 and 17).
void MultiplyTanhDerivative(const float* outputs, std::size_t count,
                            float* deltas);

// sums[i] += deltas[i] for the units whose maximum is in window t (CLSM eq.
// 16).
void AddWon(const std::int32_t* winners, std::int32_t t, const float* deltas,
            int count, float* sums);

// sums[i] += the sum of column i of `rows` [num_rows, width].
void AddRows(const float* rows, int num_rows, int width, float* sums);

// The hidden units in `layer` of the text at `place` of the mini-batch.
struct HiddenRow {
  std::uint32_t place = 0;
  int layer = 0;
};

// Dropout of hidden units (Srivastava et al., 2014), in the inverted form: in
// training a unit is set to 0 with probability p, and the others are divided by
// 1 - p, so that validation and serving do not change. Seed, step, place of the
// text in the mini-batch and layer decide the random numbers of a text's units,
// whatever the threads and the slices of the batch.
class Dropout {
 public:
  // `share` is p, in [0, 1).
  Dropout(double share, std::uint64_t seed) : share_(share), seed_(seed) {}

  bool active() const { return share_ > 0; }
  // `step`: mini-batches before this one, over all epochs.
  void SetStep(std::int64_t step) { step_ = step; }

  // Multiplies each unit by 0 or 1 / (1 - p), and sets its element of `kept` to
  // 0 or 1.
  void Apply(const HiddenRow& row, std::span<float> units,
             std::span<std::uint8_t> kept) const;
  // Turns dloss/d(output of Apply) into dloss/d(input of the tanh before
  // Apply): multiplies by factor x (1 - l)(1 + l), where l is the unit before
  // Apply.
  void BackwardThroughTanh(std::span<const float> units,
                           std::span<const std::uint8_t> kept,
                           std::span<float> deltas) const;

 private:
  double share_;
  std::uint64_t seed_;
  std::int64_t step_ = 0;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_TOWERS_TRAINING_KERNELS_H_
