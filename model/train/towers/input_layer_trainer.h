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

#include <span>
#include <vector>

#include "absl/status/status.h"
#include "model/base/task_list.h"
#include "model/data/text_table.h"
#include "model/train/towers/bag_layer_trainer.h"

namespace semrank {

// Memory of each worker of the pool.
using WorkerScratch = std::vector<std::vector<float>>;

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

// The input layer of DSSM: one bag a text, z = x W + b (eq. 3).
class BagInputTrainer : public InputLayerTrainer {
 public:
  // `weights` outlive the layer and do not move.
  BagInputTrainer(LayerWeights& weights, const OptimizerOptions& options)
      : layer_(weights, options) {}

  absl::Status SetTexts(const TextBags& texts,
                        std::span<const TextId> ids) override;
  // Forward fills the bags that it reads.
  void AddPrepareTasks(TaskList&) override {}
  void Forward(int first, int last, bool learn, float* outputs) override;
  bool HasFeatures(int text) const override;
  void AddTransposeTasks(TaskList& tasks) override;
  void AddPackTasks(const float*, TaskList&) override {}
  void AddUpdateTasks(double learning_rate, const float* deltas,
                      WorkerScratch& scratch, TaskList& tasks) override;

  BagLayerTrainer& bag_layer() override { return layer_; }

 private:
  BagLayerTrainer layer_;
  const TextBags* texts_ = nullptr;
  std::span<const TextId> ids_;
  BagBatch bags_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_TOWERS_INPUT_LAYER_TRAINER_H_
