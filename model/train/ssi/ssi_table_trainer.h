// U or V of SSI as it learns: vectors U q of the texts of a step, and the
// update U += rate x V(d+ - d-) q' (SSI 2.3) in its general form: row w of U'
// has the gradient sum over texts of q(w) x dloss/d(U q).
//
//   Shapes   row-major, one row = one text, dim() numbers.
//   Threads  as TowerTrainer: one thread calls, the pieces run anywhere.
#ifndef SEMRANK_MODEL_TRAIN_SSI_SSI_TABLE_TRAINER_H_
#define SEMRANK_MODEL_TRAIN_SSI_SSI_TABLE_TRAINER_H_

#include <cstddef>
#include <span>
#include <vector>

#include "model/base/work_list.h"
#include "model/nn/ssi_tower.h"
#include "model/train/towers/bag_layer_trainer.h"
#include "model/train/towers/input_layer_trainer.h"

namespace semrank {

class SsiTableTrainer {
 public:
  // `table` outlives the trainer and does not move.
  SsiTableTrainer(LayerWeights& table, const SsiRows& rows,
                  const OptimizerOptions& options)
      : rows_(rows), layer_(table, options) {}

  BagLayerTrainer& bag_layer() { return layer_; }

  int dim() const { return layer_.width(); }

  // The step's texts: tf-idf bags of words, one after another.
  void SetTexts(std::span<const BagBatch* const> texts);
  // After SetTexts: vectors of all texts; with `learn`, what updates need.
  void AddForwardWork(bool learn, WorkList& work);
  float* vectors() { return vectors_.data(); }
  // dloss/dvector of all texts, to be filled before AddUpdateWork.
  float* gradients() { return gradients_.data(); }
  void AddUpdateWork(double learning_rate, WorkerScratch& scratch,
                     WorkList& work);

 private:
  SsiRows rows_;
  BagLayerTrainer layer_;
  BagBatch translated_;
  const BagBatch* bags_ = nullptr;  // of rows
  std::vector<float> vectors_;
  std::vector<float> gradients_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_SSI_SSI_TABLE_TRAINER_H_
