// Trains one layer: of bags of features, or fully connected. Each part of a
// gradient is applied at once, or kept after KeepGradients.
#ifndef SEMRANK_MODEL_TRAIN_TOWERS_LAYER_TRAINER_H_
#define SEMRANK_MODEL_TRAIN_TOWERS_LAYER_TRAINER_H_

#include <span>
#include <vector>

#include "model/base/task_graph.h"
#include "model/nn/gemm.h"
#include "model/train/batches/bag_transpose.h"
#include "model/train/optimizer/gradient_set.h"
#include "model/train/towers/tower_weights.h"

namespace semrank {

// Memory of each worker of the pool.
using WorkerScratch = std::vector<std::vector<float>>;

// The product of bags with a weight matrix that is trained: x W for bags x
// (DSSM eq. 3). A step reads and changes only the rows of W whose features
// occur in its bags: the forward pass gathers them, the update scatters to
// them.
//
//   Places   a feature may have several rows of W, one after another; a bag has
//            their sums side by side: the window positions of CLSM.
//   Shapes   row-major, one row = one bag; outputs and deltas (dloss/doutput)
//            [num_bags, width()], width() = places x out.
//   Threads  TransposeBags and BeginStep by one thread; Forward and updates
//            from any, on disjoint parts.
class BagLayerTrainer {
 public:
  // `weights` outlive the layer and do not move.
  BagLayerTrainer(LayerWeights& weights, const OptimizerOptions& options,
                  int num_places = 1)
      : weights_(weights),
        num_places_(num_places),
        optimizer_(options, weights) {}

  // Call it before the first step.
  void KeepGradients();

  LayerOptimizer& optimizer() { return optimizer_; }

  int width() const { return num_places_ * weights_.out; }

  // Bags [first, last); row 0 of `outputs` is bag `first`.
  void Forward(const BagBatch& bags, int first, int last, float* outputs) const;
  // Adds the bias to each row of `outputs` [num_rows, out].
  void AddBias(int num_rows, float* outputs) const;

  // Prepares the update, which is num_tasks() tasks of about equal work.
  void TransposeBags(const BagBatch& bags);
  int num_tasks() const { return static_cast<int>(bounds_.size()) - 1; }

  void BeginStep(double learning_rate) { optimizer_.BeginStep(learning_rate); }
  // The gradient of a feature's rows is count x delta, summed over the bags
  // that have the feature. `deltas` has all bags of the step.
  void RunUpdateTask(const float* deltas, int task,
                     std::vector<float>& scratch);
  // `deltas` [num_texts, out] belong to the outputs with the bias added.
  void UpdateBias(const float* deltas, int num_texts,
                  std::vector<float>& scratch);

  // Call it after all RunUpdateTask and UpdateBias, when gradients are kept. A
  // row belongs to a feature and is width() wide.
  void AppendGradients(GradientSet& gradients);
  void AddKeptUpdateTasks(TaskList& tasks);

 private:
  LayerWeights& weights_;
  int num_places_;
  LayerOptimizer optimizer_;
  BagTranspose transpose_;
  // Task i: the features [bounds_[i], bounds_[i + 1]) of transpose_.
  std::vector<int> bounds_ = {0};
  RowGradients kept_rows_;
};

// A fully connected layer: z = x W + b; the caller applies the activation
// function.
//
//   Shapes   row-major, one row = one text; inputs [n, in], outputs and deltas
//            (dloss/dz) [n, out].
//   Threads  PackWeights, BeginBackward and BeginStep by one thread at a time;
//            Forward, Backward, PackDeltas and updates from any, on disjoint
//            parts.
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

#endif  // SEMRANK_MODEL_TRAIN_TOWERS_LAYER_TRAINER_H_
