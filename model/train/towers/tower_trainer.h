// Trains a tower: the forward pass of DssmTower or ClsmTower with every
// activation kept, the backward pass of DSSM eq. 15-19, and the update of the
// weights. The layer that reads texts is an InputLayerTrainer; the rest is
// dense.
//
// One step is a sequence of stages. Each adds its tasks to a TaskList, which
// the caller runs when the stages above that it needs have run, so that two
// towers and the loss share the threads:
//
//   SetTexts, AddPrepareTasks   what the forward pass needs; nothing for DSSM
//   AddForwardTasks             vectors()
//   AddTransposeTasks           what the update needs of the texts
//   (the loss)                 vector_gradients()
//   AddBackwardTasks            delta of each layer, in blocks of texts
//   AddPackTasks                what the update needs of the deltas; nothing
//                              for DSSM
//   AddUpdateTasks              gradients of the weights, each used at once
//                              unless they are kept; then, to use them,
//   AddKeptUpdateTasks
//
//   Shapes   row-major, one row = one text.
//   Memory   weights, optimizer state, and for each text of a step twice the
//            widths of all layers.
//   Promise  weights after a step do not depend on the number of threads: a
//            sum belongs to one task, in an order fixed by the texts.
//   Threads  one thread calls; the tasks run in any thread.
#ifndef SEMRANK_MODEL_TRAIN_TOWERS_TOWER_TRAINER_H_
#define SEMRANK_MODEL_TRAIN_TOWERS_TOWER_TRAINER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "model/base/task_graph.h"
#include "model/data/text_table.h"
#include "model/nn/dense_layers.h"
#include "model/train/batches/batch_share.h"
#include "model/train/towers/input_layer_trainer.h"
#include "model/train/towers/layer_trainer.h"
#include "model/train/towers/tower_weights.h"
#include "model/train/towers/training_kernels.h"

namespace semrank {

struct TowerTrainerOptions {
  Activation output_activation = Activation::kTanh;
  OptimizerOptions optimizer;
  int clsm_window = 0;  // 0 = the input layer is a bag layer
  bool keep_gradients = false;
  double dropout = 0;      // share of hidden units, while learning
  std::uint64_t seed = 1;  // of dropout
  int num_workers = 1;     // of the pool that runs the tasks
};

class TowerTrainer {
 public:
  TowerTrainer(TowerWeights weights, const TowerTrainerOptions& options);
  TowerTrainer(const TowerTrainer&) = delete;
  TowerTrainer& operator=(const TowerTrainer&) = delete;

  const TowerWeights& weights() const { return weights_; }
  int num_texts() const { return num_texts_; }
  int embedding_dim() const { return outputs_.back().width; }
  // [num_texts(), embedding_dim]: unit vectors; zero for a text without
  // features; NaN when the weights have outgrown single precision.
  const float* vectors() const { return vectors_.data(); }
  // dloss/dvector, same shape; the caller fills it before the backward tasks
  // run.
  float* vector_gradients() { return vector_gradients_.data(); }

  // As in ModelTrainer; names begin with `side`.
  void AppendState(std::string_view side, std::vector<StateTensor>& state);
  void Restored(std::int64_t num_steps);

  // As in InputLayerTrainer.
  absl::Status SetTexts(const TextBags& texts, std::span<const TextId> ids);
  // Call it before the forward tasks of a step that learns with dropout: step
  // and `places` of the texts number its random streams. `places` live until
  // the tasks have run.
  void SetDropoutStream(std::int64_t step,
                        std::span<const std::uint32_t> places);
  void AddPrepareTasks(TaskList& tasks);
  // The forward pass of a range of the texts. Without `learn` only vectors()
  // are computed, and the step ends there.
  void AddForwardTasks(Range texts, bool learn, TaskList& tasks);
  void AddTransposeTasks(TaskList& tasks);
  // The backward pass of a range of the texts whose vector gradients are
  // filled.
  void AddBackwardTasks(Range texts, TaskList& tasks);
  void AddPackTasks(TaskList& tasks);
  void AddUpdateTasks(double learning_rate, TaskList& tasks);
  // When gradients are kept: appends those of this step, after the update tasks
  // have run. The caller may change them before AddKeptUpdateTasks.
  void AppendGradients(GradientSet& gradients);
  void AddKeptUpdateTasks(TaskList& tasks);

 private:
  // The results of one layer in a step, [num_texts, out].
  struct LayerOutput {
    int width = 0;
    std::vector<float> activations;
    std::vector<std::uint8_t> kept;  // with dropout: 0 = put to 0
  };

  LayerOptimizer& optimizer(std::size_t layer);
  bool IsTanh(std::size_t layer) const;
  bool IsDropped(std::size_t layer) const {
    return dropout_.active() && layer + 1 < outputs_.size();
  }
  void DropUnits(std::size_t layer, int first, int last);
  void Forward(int first, int last, bool learn);
  void CheckVector(int text);
  void Backward(int first, int last, std::vector<float>& scratch);
  void BackwardOutput(int first, int last, float* deltas);
  void BackwardActivation(std::size_t layer, int first, int last,
                          float* deltas);

  TowerWeights weights_;
  TowerTrainerOptions options_;
  std::unique_ptr<InputLayerTrainer> input_layer_;
  std::deque<DenseLayerTrainer> dense_layers_;
  std::vector<LayerOutput> outputs_;  // of input_layer_, then of dense_layers_
  // dloss/d(input of the activation function) of the input layer, [num_texts,
  // out]. The deltas of dense layers live in the scratch of a worker, and the
  // layer packs them: this takes half the memory, and it stays in the cache.
  std::vector<float> input_deltas_;
  bool weights_packed_ = false;

  int num_texts_ = 0;
  std::vector<float> vectors_;
  std::vector<float> norms_;  // of the outputs; 0 = the vector is zero
  std::vector<float> vector_gradients_;
  WorkerScratch scratch_;
  Dropout dropout_;
  std::span<const std::uint32_t> places_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_TOWERS_TOWER_TRAINER_H_
