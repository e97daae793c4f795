// Updates the weights of one tensor by their gradient.
//
//   SGD      w -= rate g                                          (eq. 8)
//   Adagrad  s += g^2, w -= rate g / (sqrt(s) + 1e-8)   (Duchi, Hazan and
//            Singer, 2011, with a diagonal matrix)
//   Adam     m += (1 - b1)(g - m), v += (1 - b2)(g^2 - v),
//            w -= rate m' / (sqrt(v') + 1e-8), m' and v' corrected for the
//            number of steps so far (Kingma and Ba, 2015).
//   Sparse   rows that a mini-batch does not touch are left alone, and s, m
//            and v with them; Adam's correction counts all steps.
//   Memory   Adam: twice that of the tensor. Adagrad: once. SGD: none.
//   Promise  each weight's new value depends on its own old one, its gradient
//            and the step, to the bit: Update may be cut in any way, and every
//            level of simd_level.h gives the same. No operations are fused.
//   Threads  BeginStep by one thread, then Update from any on disjoint ranges.
#ifndef SEMRANK_MODEL_TRAIN_OPTIMIZER_PARAMETER_OPTIMIZER_H_
#define SEMRANK_MODEL_TRAIN_OPTIMIZER_PARAMETER_OPTIMIZER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/base/huge_pages.h"
#include "model/train/options/train_options.h"

namespace semrank {

// Floats that a trainer keeps from step to step, a weight or an optimizer's
// state of it, under a unique name; to be saved or restored.
struct StateTensor {
  std::string name;
  std::span<float> values;
};

class ParameterOptimizer {
 public:
  // `weights` outlive the optimizer and do not move.
  ParameterOptimizer(const OptimizerOptions& options, std::span<float> weights);

  // Once for each mini-batch, before its updates.
  void BeginStep(double learning_rate);

  // Appends the weights as `name`, and their optimizer state.
  void AppendState(const std::string& name, std::vector<StateTensor>& state);
  // Call it when the state was overwritten with that after `num_steps` steps.
  void set_num_steps(std::int64_t num_steps) { step_ = num_steps; }

  // A hint that these weights are updated soon.
  void Prefetch(std::size_t first, std::size_t count) const;
  // Updates weights [first, first + gradient.size()).
  void Update(std::size_t first, std::span<const float> gradient);

 private:
  v1::Optimizer kind_;
  std::span<float> weights_;
  std::int64_t step_ = 0;
  float step_size_ = 0;                  // the rate; Adam: rate / (1 - b1^step)
  float second_scale_ = 1;               // Adam: 1 / sqrt(1 - b2^step)
  HugePageVector<float> first_moments_;  // Adam's m
  HugePageVector<float> second_moments_;  // Adam's v, Adagrad's s
};

// The learning rate of a mini-batch: with `batch` = b counted from 0 over all
// epochs, W = warmup_batches and T = total_batches (those of all epochs),
//
//   b < W            rate (b + 1) / (W + 1)
//   then, none       rate
//         linear     rate (T - b) / (T - W)
//         cosine     rate (e + (1 - e) (1 - cos(pi (T - b) / (T - W))) / 2),
//                    e = kCosineDecayEnd
//
// so no batch has a rate of 0, and the two parts meet at the full rate.
double LearningRate(const OptimizerOptions& options, std::int64_t batch,
                    std::int64_t total_batches);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_OPTIMIZER_PARAMETER_OPTIMIZER_H_
