// Trains a fully connected layer: z = x W + b; the caller applies the
// activation function. Each part of a gradient is applied at once, or kept
// after KeepGradients.
//
//   Shapes   row-major, one row = one text; inputs [n, in], outputs and deltas
//            (dloss/dz) [n, out].
//   Threads  PackWeights, BeginBackward and BeginStep by one thread at a time;
//            Forward, Backward, PackDeltas and updates from any, on disjoint
//            parts.
#ifndef SEMRANK_MODEL_TRAIN_TOWERS_DENSE_LAYER_TRAINER_H_
#define SEMRANK_MODEL_TRAIN_TOWERS_DENSE_LAYER_TRAINER_H_

#include <span>
#include <vector>

#include "model/base/task_list.h"
#include "model/nn/gemm.h"
#include "model/train/optimizer/gradient_set.h"
#include "model/train/towers/layer_optimizer.h"

namespace semrank {

class DenseLayerTrainer {
 public:
  // `weights` outlive the layer and do not move.
  DenseLayerTrainer(LayerWeights& weights, const OptimizerOptions& options)
      : weights_(weights), optimizer_(options, weights) {}

  // Call it before the first step.
  void KeepGradients();

  LayerOptimizer& optimizer() { return optimizer_; }

  // Call it before the first Forward or Backward, and again when the weights
  // were overwritten; updates pack what they change.
  void PackWeights();
  void Forward(const float* inputs, int num_rows, float* outputs) const;
  // dloss/dx = delta W^T, as in eq. 17.
  void Backward(const float* deltas, int num_rows,
                float* input_gradients) const;

  // Makes room for the step's deltas. PackDeltas packs those of texts [first,
  // last); all are packed before the updates.
  void BeginBackward(int num_texts);
  void PackDeltas(const float* deltas, int first, int last);
  void BeginStep(double learning_rate) { optimizer_.BeginStep(learning_rate); }
  // Rows [first, last) of dloss/dW = X^T delta, eq. 18-19.
  // `inputs` has all texts of the step.
  void UpdateRows(const float* inputs, int first, int last,
                  std::vector<float>& scratch);
  void UpdateBias(std::vector<float>& scratch);

  // Call it after all UpdateRows and UpdateBias, when gradients are kept.
  void AppendGradients(GradientSet& gradients);
  void AddKeptUpdateTasks(TaskList& tasks);

 private:
  StridedMatrix WeightRows(int first, int last) const;
  void UpdateWeightRows(int first, int last, std::span<const float> gradient);

  LayerWeights& weights_;
  LayerOptimizer optimizer_;
  PackedMatrix packed_weight_;      // [in, out]
  PackedMatrix packed_transposed_;  // [out, in]
  PackedMatrix packed_deltas_;      // [num_texts, out]
  std::vector<float> kept_weight_;  // gradient [in, out], or empty
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_TOWERS_DENSE_LAYER_TRAINER_H_
