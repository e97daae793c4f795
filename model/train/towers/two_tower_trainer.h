// Both towers and the loss: one call is one step of gradient descent on one
// mini-batch (DSSM eq. 8-10, with the mean over the batch for the sum).
//
//   Stages   work of one side fills the gaps in which threads would wait for
//            the other side: with separate towers, two threads wait for each
//            other only at the end of a step.
//              titles    forward                       backward, update
//              loss               scores, gradients
//              queries   forward                       backward, update
//   Shared   one tower embeds queries and titles; its gradient is the sum of
//            both sides, as in the paper's appendix.
//   Threads  one thread calls; the work is done by the pool.
#ifndef SEMRANK_MODEL_TRAIN_TOWERS_TWO_TOWER_TRAINER_H_
#define SEMRANK_MODEL_TRAIN_TOWERS_TWO_TOWER_TRAINER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/train/batches/batch_share.h"
#include "model/train/batches/mini_batch.h"
#include "model/train/distributed/communicator.h"
#include "model/train/distributed/exchange.h"
#include "model/train/options/train_options.h"
#include "model/train/towers/model_trainer.h"
#include "model/train/towers/softmax_loss.h"
#include "model/train/towers/tower_trainer.h"

namespace semrank {

// `document` has no layers when the towers are shared.
struct TwoTowerWeights {
  TowerWeights query;
  TowerWeights document;
};

TwoTowerWeights InitialTwoTowerWeights(const TowerOptions& options,
                                       int num_features, std::uint64_t seed);

// The queries or the titles of a mini-batch: a range of the texts that a tower
// was given.
struct TowerSide {
  TowerTrainer& tower;
  Range texts;

  // The vectors and gradients begin with the first of the texts.
  const float* vectors() const { return tower.vectors() + offset(); }
  float* vector_gradients() const {
    return tower.vector_gradients() + offset();
  }

 private:
  std::size_t offset() const {
    return static_cast<std::size_t>(texts.first) * tower.embedding_dim();
  }
};

struct TowerSides {
  TowerSide queries;
  TowerSide titles;

  // One tower has both.
  bool shared() const { return &queries.tower == &titles.tower; }
};

class TwoTowerTrainer : public ModelTrainer {
 public:
  // Shared towers when `weights` has no document tower.
  TwoTowerTrainer(TwoTowerWeights weights, const TrainOptions& options,
                  const Workers& workers);

  // Both fail as TextBags::Layout.
  absl::StatusOr<double> Loss(const MiniBatch& batch) override;
  absl::StatusOr<double> Step(const MiniBatch& batch,
                              const StepContext& step) override;

  double gradient_norm() const override { return gradient_norm_; }
  std::vector<TensorView> Weights() const override;
  std::vector<StateTensor> State() override;
  void Restored(std::int64_t num_steps) override;

 private:
  bool shared() const { return document_ == nullptr; }
  absl::Status SetTexts(const MiniBatch& batch, const BatchShare& share);
  // After SetTexts.
  TowerSides Sides();
  LossInput Vectors(const MiniBatch& batch);
  LossGradients VectorGradients();
  void ComputeLossOfAll(const MiniBatch& batch, const BatchShare& share);
  absl::Status UpdateWithKeptGradients();

  Workers workers_;
  double gradient_clip_norm_;
  double gradient_norm_ = 0;
  SoftmaxLoss loss_;
  std::unique_ptr<TowerTrainer> query_;
  std::unique_ptr<TowerTrainer> document_;  // null = shared
  VectorExchange vectors_;
  GradientExchange gradients_;
  PlacedTexts query_texts_;  // shared: of queries, then of titles
  PlacedTexts title_texts_;  // unless shared
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_TOWERS_TWO_TOWER_TRAINER_H_
