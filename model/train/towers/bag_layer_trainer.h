// The product of bags with a weight matrix that is trained: x W for bags x
// (DSSM eq. 3). A step reads and changes only the rows of W whose features
// occur in its bags: the forward pass gathers them, the update scatters to
// them. Each part of a gradient is applied at once, or kept after
// KeepGradients.
//
//   Places   a feature may have several rows of W, one after another; a bag
//   gets
//            their sums side by side: the window positions of CLSM.
//   Shapes   row-major, one row = one bag; outputs and deltas (dloss/doutput)
//            [num_bags, width()], width() = places x out.
//   Threads  TransposeBags and BeginStep by one thread; Forward and updates
//            from any, on disjoint parts.
#ifndef SEMRANK_MODEL_TRAIN_TOWERS_BAG_LAYER_TRAINER_H_
#define SEMRANK_MODEL_TRAIN_TOWERS_BAG_LAYER_TRAINER_H_

#include <vector>

#include "model/base/task_list.h"
#include "model/text/featurizer.h"
#include "model/train/batches/bag_transpose.h"
#include "model/train/optimizer/gradient_set.h"
#include "model/train/towers/layer_optimizer.h"

namespace semrank {

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

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_TOWERS_BAG_LAYER_TRAINER_H_
