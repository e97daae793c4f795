// Trains the layer of a tower that reads texts: bags of features for DSSM (eq.
// 3), word windows with max pooling for CLSM (eq. 1-3). The tower decides
// whether tanh follows.
//
//   Steps    as in TowerTrainer, which calls this: SetTexts, then the tasks of
//            each phase are added and run before the next.
//   Shapes   row-major, one row = one text; outputs and deltas (dloss/doutput)
//            [num_texts, width].
//   Promise  as TowerTrainer: nothing depends on the number of threads.
//   Threads  one thread calls SetTexts and Add...; Forward and HasFeatures
//            from any, on disjoint texts.
#ifndef SEMRANK_MODEL_TRAIN_TOWERS_INPUT_LAYER_TRAINER_H_
#define SEMRANK_MODEL_TRAIN_TOWERS_INPUT_LAYER_TRAINER_H_

#include <memory>
#include <span>

#include "absl/status/status.h"
#include "model/base/task_graph.h"
#include "model/data/text_table.h"
#include "model/train/towers/layer_trainer.h"

namespace semrank {

class InputLayerTrainer {
 public:
  virtual ~InputLayerTrainer() = default;

  // `texts` and what `ids` points to live until Forward has been called for all
  // of them. Fails as TextBags::Layout.
  virtual absl::Status SetTexts(const TextBags& texts,
                                std::span<const TextId> ids) = 0;
  // Adds the tasks that Forward depends on.
  virtual void AddPrepareTasks(TaskList& tasks) = 0;
  // Texts [first, last); row 0 of `outputs` is text `first`. With `learn`, what
  // the update needs is kept.
  virtual void Forward(int first, int last, bool learn, float* outputs) = 0;
  // False for a text without any known feature, whose vector is zero.
  virtual bool HasFeatures(int text) const = 0;

  // Adds the tasks for the update that need no deltas; after Forward.
  virtual void AddTransposeTasks(TaskList& tasks) = 0;
  // Adds the tasks for the update that need the deltas of all texts.
  virtual void AddPackTasks(const float* deltas, TaskList& tasks) = 0;
  // `deltas` as in AddPackTasks; `scratch` lives until the tasks have run.
  virtual void AddUpdateTasks(double learning_rate, const float* deltas,
                              WorkerScratch& scratch, TaskList& tasks) = 0;

  // The layer that learns, for gradients that are kept.
  virtual BagLayerTrainer& bag_layer() = 0;
};

// The input layer of CLSM with a `clsm_window`, of DSSM without (0). `weights`,
// for CLSM [num_features * clsm_window, out] as in ClsmTower, outlive the layer
// and do not move.
std::unique_ptr<InputLayerTrainer> MakeInputLayerTrainer(
    LayerWeights& weights, const OptimizerOptions& options, int clsm_window);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_TOWERS_INPUT_LAYER_TRAINER_H_
