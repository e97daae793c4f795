#include "model/train/two_tower_trainer.h"

#include <cstddef>
#include <utility>

#include "model/base/status_macros.h"
#include "model/train/gradient_clipping.h"
#include "model/train/work_list.h"

namespace semrank {

TwoTowerWeights InitialTwoTowerWeights(const TowerOptions& options,
                                       int num_features, std::uint64_t seed) {
  const std::vector<int> widths = TowerWidths(options, num_features);
  TwoTowerWeights weights;
  weights.query =
      InitialWeights(widths, Random(seed, RandomPurpose::kQueryWeights));
  if (!options.shared) {
    weights.document =
        InitialWeights(widths, Random(seed, RandomPurpose::kDocumentWeights));
  }
  for (TowerWeights* tower : {&weights.query, &weights.document}) {
    for (LayerWeights& layer : tower->layers) {
      layer.learns_bias = options.biases;
    }
  }
  return weights;
}

TwoTowerTrainer::TwoTowerTrainer(TwoTowerWeights weights,
                                 const TrainOptions& options, ThreadPool& pool,
                                 Communicator& communicator)
    : pool_(pool),
      communicator_(communicator),
      gradient_clip_norm_(options.optimizer.gradient_clip_norm),
      loss_(options.loss.gamma, options.tower.embedding_dim),
      vectors_(options.tower.embedding_dim) {
  const TowerTrainerOptions tower_options = {
      .output_activation = options.tower.activation == v1::ACTIVATION_TANH
                               ? Activation::kTanh
                               : Activation::kLinear,
      .optimizer = options.optimizer,
      .clsm_window = options.tower.clsm_window,
      .keep_gradients = gradient_clip_norm_ > 0 || !alone(),
      .dropout = options.tower.dropout,
      .seed = options.seed,
      .num_workers = pool.num_threads()};
  query_ =
      std::make_unique<TowerTrainer>(std::move(weights.query), tower_options);
  if (weights.document.layers.empty()) return;
  document_ = std::make_unique<TowerTrainer>(std::move(weights.document),
                                             tower_options);
}

std::vector<TensorView> TwoTowerTrainer::Weights() const {
  std::vector<TensorView> tensors;
  query_->weights().AppendTensors("query", tensors);
  if (!shared()) document_->weights().AppendTensors("document", tensors);
  return tensors;
}

std::vector<StateTensor> TwoTowerTrainer::State() {
  std::vector<StateTensor> state;
  query_->AppendState("query", state);
  if (!shared()) document_->AppendState("document", state);
  return state;
}

void TwoTowerTrainer::Restored(std::int64_t num_steps) {
  query_->Restored(num_steps);
  if (!shared()) document_->Restored(num_steps);
}

// Both towers add their pieces, then all run.
template <typename AddWork>
void TwoTowerTrainer::RunPhase(AddWork add_work) {
  WorkList work;
  add_work(*query_, work);
  if (!shared()) add_work(*document_, work);
  work.Run(pool_);
}

absl::Status TwoTowerTrainer::SetTexts(const MiniBatch& batch,
                                       const BatchShare& share) {
  PlacedTexts& titles = shared() ? query_texts_ : title_texts_;
  query_texts_.Clear();
  title_texts_.Clear();
  query_texts_.AppendQueries(batch, share);
  titles.AppendTitles(batch, share);
  SEMRANK_RETURN_IF_ERROR(query_->SetTexts(*batch.bags, query_texts_.ids));
  return shared() ? absl::OkStatus()
                  : document_->SetTexts(*batch.bags, title_texts_.ids);
}

LossInput TwoTowerTrainer::Embed(const MiniBatch& batch, bool learn) {
  RunPhase(
      [](TowerTrainer& tower, WorkList& work) { tower.AddPrepareWork(work); });
  RunPhase([learn](TowerTrainer& tower, WorkList& work) {
    tower.AddForwardWork(learn, work);
  });
  const std::size_t query_floats =
      query_texts_.num_queries * query_->embedding_dim();
  return {batch, query_->vectors(),
          shared() ? query_->vectors() + query_floats : document_->vectors()};
}

absl::StatusOr<double> TwoTowerTrainer::Loss(const MiniBatch& batch) {
  SEMRANK_RETURN_IF_ERROR(SetTexts(batch, ShareOf(batch, 0, 1)));
  return loss_.Compute(Embed(batch, /*learn=*/false), {}, pool_);
}

absl::StatusOr<double> TwoTowerTrainer::Step(const MiniBatch& batch,
                                             const StepContext& step) {
  const BatchShare share =
      ShareOf(batch, communicator_.process(), communicator_.num_processes());
  SEMRANK_RETURN_IF_ERROR(Agree(communicator_, SetTexts(batch, share)));
  query_->SetDropoutStream(step.number, query_texts_.places);
  if (!shared()) {
    document_->SetDropoutStream(step.number, title_texts_.places);
  }
  const double loss = ComputeLoss(Embed(batch, /*learn=*/true));
  RunPhase(
      [](TowerTrainer& tower, WorkList& work) { tower.AddBackwardWork(work); });
  RunPhase(
      [](TowerTrainer& tower, WorkList& work) { tower.AddPackWork(work); });
  RunPhase([&step](TowerTrainer& tower, WorkList& work) {
    tower.AddUpdateWork(step.learning_rate, work);
  });
  if (gradient_clip_norm_ > 0 || !alone()) {
    SEMRANK_RETURN_IF_ERROR(UpdateWithKeptGradients());
  }
  return loss;
}

// Of the whole batch; fills the gradients of the vectors that the towers have.
double TwoTowerTrainer::ComputeLoss(const LossInput& own) {
  float* query_gradients = query_->vector_gradients();
  const LossGradients own_gradients = {
      query_gradients,
      shared() ? query_gradients + (own.title_vectors - own.query_vectors)
               : document_->vector_gradients()};
  if (alone()) return loss_.Compute(own, own_gradients, pool_);
  const LossInput all = vectors_.Gather(own, communicator_);
  const double loss = loss_.Compute(all, vectors_.gradients(), pool_);
  vectors_.CutOut(own.batch, communicator_, own_gradients);
  return loss;
}

absl::Status TwoTowerTrainer::UpdateWithKeptGradients() {
  GradientSet gradients;
  query_->AppendGradients(gradients);
  if (!shared()) document_->AppendGradients(gradients);
  if (!alone()) {
    SEMRANK_RETURN_IF_ERROR(gradients_.Reduce(gradients, communicator_, pool_));
  }
  if (gradient_clip_norm_ > 0) {
    gradient_norm_ = ClipGradients(gradient_clip_norm_, gradients, pool_);
  }
  RunPhase([](TowerTrainer& tower, WorkList& work) {
    tower.AddKeptUpdateWork(work);
  });
  return absl::OkStatus();
}

}  // namespace semrank
