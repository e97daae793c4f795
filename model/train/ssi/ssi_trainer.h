// Trains supervised semantic indexing: the margin ranking loss on f(q, d) =
// q'Wd, with one step of gradient descent a mini-batch (SSI 2.3).
//
//   Sparse   a step reads and changes only what belongs to the words of its
//            texts, and of the pairs only those whose margin is violated.
//   Share    each of several processes embeds all texts of a step, which is
//            cheap, and computes the scores and gradients of its own pairs,
//            which are expensive; the gradients of the texts' vectors are
//            summed, and all processes make the same update.
//   Threads  one thread calls; the work is done by the pool.
#ifndef SEMRANK_MODEL_TRAIN_SSI_SSI_TRAINER_H_
#define SEMRANK_MODEL_TRAIN_SSI_SSI_TRAINER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/base/task_graph.h"
#include "model/nn/sparse_scorer.h"
#include "model/nn/ssi_tower.h"
#include "model/train/batches/bag_transpose.h"
#include "model/train/batches/batch_share.h"
#include "model/train/distributed/communicator.h"
#include "model/train/distributed/exchange.h"
#include "model/train/optimizer/parameter_optimizer.h"
#include "model/train/options/train_options.h"
#include "model/train/ssi/margin_loss.h"
#include "model/train/ssi/ssi_weights.h"
#include "model/train/ssi/word_pair_trainer.h"
#include "model/train/towers/layer_trainer.h"
#include "model/train/towers/model_trainer.h"

namespace semrank {

// U or V of SSI: vectors U q of the texts of a step, and the update
// U += rate x V(d+ - d-) q' (SSI 2.3) in its general form: row w of U' has the
// gradient sum over texts of q(w) x dloss/d(U q). Row-major, one row = one
// text, which has the blocks of SsiRows.
class SsiTableTrainer {
 public:
  // `table` outlives the trainer and does not move.
  SsiTableTrainer(LayerWeights& table, const SsiRows& rows,
                  const OptimizerOptions& options)
      : rows_(rows), layer_(table, options) {}

  BagLayerTrainer& bag_layer() { return layer_; }

  // Elements of a vector, and of a block.
  int dim() const { return block_dim() * rows_.num_blocks(); }
  int block_dim() const { return layer_.width(); }

  // Sets the texts of the step: tf-idf bags of words.
  void SetTexts(std::span<const BagBatch* const> texts);
  // After SetTexts: computes the vectors of all texts, and with `learn` what
  // the updates need.
  void AddForwardTasks(bool learn, TaskList& tasks);
  float* vectors() { return vectors_.data(); }
  // dloss/dvector of all texts; the caller fills it before AddUpdateTasks.
  float* gradients() { return gradients_.data(); }
  void AddUpdateTasks(double learning_rate, WorkerScratch& scratch,
                      TaskList& tasks);

 private:
  SsiRows rows_;
  BagLayerTrainer layer_;
  BagBatch translated_;
  const BagBatch* bags_ = nullptr;  // of rows
  std::vector<float> vectors_;
  std::vector<float> gradients_;
};

class SsiTrainer : public ModelTrainer {
 public:
  // `options` are resolved.
  SsiTrainer(SsiWeights weights, const TrainOptions& options,
             const Workers& workers);
  SsiTrainer(const SsiTrainer&) = delete;
  SsiTrainer& operator=(const SsiTrainer&) = delete;

  // Both fail as TextBags::Layout, Step also as GatherBags.
  absl::StatusOr<double> Loss(const MiniBatch& batch) override;
  absl::StatusOr<double> Step(const MiniBatch& batch,
                              const StepContext& step) override;

  double gradient_norm() const override { return gradient_norm_; }
  std::vector<TensorView> Weights() const override;
  std::vector<StateTensor> State() override;
  void Restored(std::int64_t num_steps) override;

 private:
  absl::Status ReadTexts(const MiniBatch& batch);
  void Embed(bool learn);
  double Score(const MiniBatch& batch, Range pairs);
  void ScoreTitles(int pair, std::span<const std::uint32_t> titles,
                   std::span<float> scores, int worker);
  void AddVectorGradientTasks(TaskList& tasks);
  absl::Status ExchangeGradients(Range pairs);
  double MixingGradient();
  void UpdateWithKeptGradients();
  std::size_t FirstTitleElement() const;
  SsiTableTrainer& title_table() const { return *tables_.back(); }
  const float* title_vectors() const {
    return title_table().vectors() + FirstTitleElement();
  }
  float* title_gradients() const {
    return title_table().gradients() + FirstTitleElement();
  }

  SsiWeights weights_;
  Workers workers_;
  double gradient_clip_norm_;
  double gradient_norm_ = 0;
  MarginLoss loss_;
  std::unique_ptr<SsiTableTrainer> query_table_;     // null = no vectors
  std::unique_ptr<SsiTableTrainer> document_table_;  // null also when shared
  std::vector<SsiTableTrainer*> tables_;         // the tables that are not null
  std::unique_ptr<SparseScorer> sparse_;         // null = none
  std::unique_ptr<WordPairTrainer> word_pairs_;  // null = nothing to learn
  ParameterOptimizer mixing_;
  float mixing_gradient_ = 0;

  // tf-idf words of the step's texts.
  BagBatch queries_;
  BagBatch titles_;
  BagTranspose violations_by_title_;
  GradientExchange gradients_;
  std::vector<SparseScorer::Scratch> sparse_scratch_;  // by worker
  WorkerScratch scratch_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_SSI_SSI_TRAINER_H_
