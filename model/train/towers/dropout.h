// Dropout of hidden units (Srivastava et al., 2014), inverted: while a model
// learns, a unit is put to 0 with probability p, and the others are divided by
// 1 - p, so that nothing changes for validation and serving.
//
//   Stream   the units of one text in one layer have random numbers of their
//            own, by seed, step, place of the text in the mini-batch and layer:
//            no thread and no cut of the batch changes them.
//   Threads  SetStep by one thread; Apply and Backward from any.
#ifndef SEMRANK_MODEL_TRAIN_TOWERS_DROPOUT_H_
#define SEMRANK_MODEL_TRAIN_TOWERS_DROPOUT_H_

#include <cstdint>
#include <span>

namespace semrank {

// A row of hidden units: of the text at `place` of the mini-batch, in `layer`.
struct HiddenRow {
  std::uint32_t place = 0;
  int layer = 0;
};

class Dropout {
 public:
  // `share` in [0, 1): p.
  Dropout(double share, std::uint64_t seed) : share_(share), seed_(seed) {}

  bool active() const { return share_ > 0; }
  // `step`: mini-batches before this one, over all epochs.
  void SetStep(std::int64_t step) { step_ = step; }

  // Multiplies each unit by 0 or 1 / (1 - p) and says which: `kept` gets 0 or
  // 1, one for each unit.
  void Apply(const HiddenRow& row, std::span<float> units,
             std::span<std::uint8_t> kept) const;
  // From dloss/d(what Apply made) to dloss/d(what it was given), tanh behind
  // it: multiplies by factor x (1 - l)(1 + l) with l the unit before Apply.
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
