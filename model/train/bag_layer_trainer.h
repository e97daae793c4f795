// The first layer of a tower that learns: z = x W + b for bags x (DSSM eq. 3).
// Of its weight, only the rows of features that occur in a step's bags are
// read and changed.
//
//   Shapes   row-major, one row = one text; outputs and deltas (dloss/dz)
//            [num_texts, out].
//   Threads  TransposeBags and BeginStep by one thread; Forward and updates
//            from any, on disjoint parts.
#ifndef SEMRANK_MODEL_TRAIN_BAG_LAYER_TRAINER_H_
#define SEMRANK_MODEL_TRAIN_BAG_LAYER_TRAINER_H_

#include <vector>

#include "model/text/featurizer.h"
#include "model/train/bag_transpose.h"
#include "model/train/layer_optimizer.h"

namespace semrank {

class BagLayerTrainer {
 public:
  // `weights` outlive the layer and do not move.
  BagLayerTrainer(LayerWeights& weights, const OptimizerOptions& options)
      : weights_(weights), optimizer_(options, weights) {}

  // Texts [first, last) of the bags; row 0 of `outputs` is text `first`.
  void Forward(const BagBatch& bags, int first, int last, float* outputs) const;

  // Makes ready for updates, which come in num_pieces() of about equal work.
  void TransposeBags(const BagBatch& bags);
  int num_pieces() const { return static_cast<int>(bounds_.size()) - 1; }

  void BeginStep() { optimizer_.BeginStep(); }
  // The row of a feature has the gradient count x delta, summed over the texts
  // that have the feature; `deltas` are those of all texts of the step.
  void UpdatePiece(const float* deltas, int piece, std::vector<float>& scratch);
  void UpdateBias(const float* deltas, int num_texts,
                  std::vector<float>& scratch);

 private:
  LayerWeights& weights_;
  LayerOptimizer optimizer_;
  BagTranspose transpose_;
  // Piece i: the features [bounds_[i], bounds_[i + 1]) of transpose_.
  std::vector<int> bounds_ = {0};
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_BAG_LAYER_TRAINER_H_
