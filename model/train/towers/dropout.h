// Dropout of hidden units (Srivastava et al., 2014), in the inverted form: in
// training a unit is set to 0 with probability p, and the others are divided by
// 1 - p, so that validation and serving do not change.
//
//   Stream   seed, step, place of the text in the mini-batch and layer decide
//            the random numbers of a text's units, whatever the threads and the
//            slices of the batch.
//   Threads  SetStep by one thread; Apply and Backward from any.
#ifndef SEMRANK_MODEL_TRAIN_TOWERS_DROPOUT_H_
#define SEMRANK_MODEL_TRAIN_TOWERS_DROPOUT_H_

#include <cstdint>
#include <span>

namespace semrank {

// The hidden units in `layer` of the text at `place` of the mini-batch.
struct HiddenRow {
  std::uint32_t place = 0;
  int layer = 0;
};

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

#endif  // SEMRANK_MODEL_TRAIN_TOWERS_DROPOUT_H_
