// The product of bags with a weight that learns: x W for bags x (DSSM eq. 3).
// Of W, only the rows of features that occur in a step's bags are read and
// changed. Each piece of a gradient is used at once, or kept after
// KeepGradients.
//
//   Places   a feature may have several rows of W, one after another, of which
//            a bag gets the sums side by side: the window places of CLSM.
//   Shapes   row-major, one row = one bag; outputs and deltas (dloss/doutput)
//            [num_bags, width()], width() = places x out.
//   Threads  TransposeBags and BeginStep by one thread; Forward and updates
//            from any, on disjoint parts.
#ifndef SEMRANK_MODEL_TRAIN_TOWERS_BAG_LAYER_TRAINER_H_
#define SEMRANK_MODEL_TRAIN_TOWERS_BAG_LAYER_TRAINER_H_

#include <vector>

#include "model/base/work_list.h"
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

  // Once, before the first step.
  void KeepGradients();

  LayerOptimizer& optimizer() { return optimizer_; }

  int width() const { return num_places_ * weights_.out; }

  // Bags [first, last); row 0 of `outputs` is bag `first`.
  void Forward(const BagBatch& bags, int first, int last, float* outputs) const;
  // Adds the bias to each row of `outputs` [num_rows, out].
  void AddBias(int num_rows, float* outputs) const;

  // Makes ready for updates, which come in num_pieces() of about equal work.
  void TransposeBags(const BagBatch& bags);
  int num_pieces() const { return static_cast<int>(bounds_.size()) - 1; }

  void BeginStep(double learning_rate) { optimizer_.BeginStep(learning_rate); }
  // The rows of a feature have the gradient count x delta, summed over the bags
  // that have the feature; `deltas` are those of all bags of the step.
  void UpdatePiece(const float* deltas, int piece, std::vector<float>& scratch);
  // `deltas` [num_texts, out] are those behind the bias.
  void UpdateBias(const float* deltas, int num_texts,
                  std::vector<float>& scratch);

  // When gradients are kept: after all of UpdatePiece and UpdateBias. A row is
  // that of a feature, width() wide.
  void AppendGradients(GradientSet& gradients);
  void AddKeptUpdateWork(WorkList& work);

 private:
  LayerWeights& weights_;
  int num_places_;
  LayerOptimizer optimizer_;
  BagTranspose transpose_;
  // Piece i: the features [bounds_[i], bounds_[i + 1]) of transpose_.
  std::vector<int> bounds_ = {0};
  RowGradients kept_rows_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_TOWERS_BAG_LAYER_TRAINER_H_
