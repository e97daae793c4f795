#include "model/train/two_tower_trainer.h"

#include <cstddef>
#include <utility>

#include "model/base/status_macros.h"
#include "model/train/gradient_clipping.h"

namespace semrank {
namespace {

WorkGraph::Stages Both(const SideStages& sides) {
  WorkGraph::Stages both = sides.queries;
  both.insert(both.end(), sides.titles.begin(), sides.titles.end());
  return both;
}

// First, as it is the longest piece.
void AddMeanwhile(const StepContext& step, WorkGraph& graph) {
  if (!step.meanwhile) return;
  graph.Add({}, [&step](WorkList& work) {
    work.Add(1, [&step](int, int) { step.meanwhile(); });
  });
}

}  // namespace

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

Range TwoTowerTrainer::Titles() const {
  if (!shared()) return {0, document_->num_texts()};
  return {query_texts_.num_queries, query_->num_texts()};
}

LossInput TwoTowerTrainer::Vectors(const MiniBatch& batch) {
  const TowerTrainer& titles = title_tower();
  const std::size_t first_title = Titles().first;
  return {&batch, query_->vectors(),
          titles.vectors() + first_title * titles.embedding_dim()};
}

LossGradients TwoTowerTrainer::VectorGradients() {
  TowerTrainer& titles = title_tower();
  const std::size_t first_title = Titles().first;
  return {query_->vector_gradients(),
          titles.vector_gradients() + first_title * titles.embedding_dim()};
}

// Titles first: the scores of a pair wait for those of all pairs.
SideStages TwoTowerTrainer::AddForwardStages(bool learn, WorkGraph& graph) {
  const auto prepared = [&graph](TowerTrainer& tower) {
    return graph.Add({},
                     [&tower](WorkList& work) { tower.AddPrepareWork(work); });
  };
  const auto embedded = [&graph, learn](TowerTrainer& tower, Range texts,
                                        WorkGraph::Stage needs) {
    return graph.Add({needs}, [&tower, texts, learn](WorkList& work) {
      tower.AddForwardWork(texts, learn, work);
    });
  };
  const auto titles_prepared = prepared(title_tower());
  const auto queries_prepared = shared() ? titles_prepared : prepared(*query_);
  const auto titles = embedded(title_tower(), Titles(), titles_prepared);
  const auto queries = embedded(*query_, Queries(), queries_prepared);
  return {.queries = {queries}, .titles = {titles}};
}

// From the gradients of vectors down to the weights. What a tower does and the
// other does not wait for fills the gaps in which threads would be idle.
void TwoTowerTrainer::AddLearningStages(const SideStages& vectors,
                                        const SideStages& gradients,
                                        double learning_rate,
                                        WorkGraph& graph) {
  const auto backward = [&graph](TowerTrainer& tower, Range texts,
                                 const WorkGraph::Stages& needs) {
    return graph.Add(needs, [&tower, texts](WorkList& work) {
      tower.AddBackwardWork(texts, work);
    });
  };
  const auto update = [&graph, learning_rate](TowerTrainer& tower,
                                              const WorkGraph::Stages& texts,
                                              const WorkGraph::Stages& deltas) {
    const auto transposed = graph.Add(
        texts, [&tower](WorkList& work) { tower.AddTransposeWork(work); });
    WorkGraph::Stages needs = deltas;
    needs.push_back(transposed);
    const auto packed =
        graph.Add(needs, [&tower](WorkList& work) { tower.AddPackWork(work); });
    graph.Add({packed}, [&tower, learning_rate](WorkList& work) {
      tower.AddUpdateWork(learning_rate, work);
    });
  };
  const auto queries = backward(*query_, Queries(), gradients.queries);
  const auto titles = backward(title_tower(), Titles(), gradients.titles);
  if (shared()) {
    update(*query_, Both(vectors), {queries, titles});
  } else {
    update(*query_, vectors.queries, {queries});
    update(*document_, vectors.titles, {titles});
  }
}

absl::StatusOr<double> TwoTowerTrainer::Loss(const MiniBatch& batch) {
  SEMRANK_RETURN_IF_ERROR(SetTexts(batch, ShareOf(batch, 0, 1)));
  WorkGraph graph;
  const SideStages vectors = AddForwardStages(/*learn=*/false, graph);
  loss_.AddStages(Vectors(batch), {}, vectors, graph);
  pool_.Run(graph);
  return loss_.MeanLoss();
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
  WorkGraph graph;
  AddMeanwhile(step, graph);
  SideStages vectors = AddForwardStages(/*learn=*/true, graph);
  SideStages gradients;
  if (alone()) {
    gradients =
        loss_.AddStages(Vectors(batch), VectorGradients(), vectors, graph);
  } else {
    pool_.Run(std::exchange(graph, {}));
    ComputeLossOfAll(batch);
    vectors = {};
  }
  AddLearningStages(vectors, gradients, step.learning_rate, graph);
  pool_.Run(graph);
  if (gradient_clip_norm_ > 0 || !alone()) {
    SEMRANK_RETURN_IF_ERROR(UpdateWithKeptGradients());
  }
  return loss_.MeanLoss();
}

// Of the whole batch, which has to be gathered first; fills the gradients of
// the vectors that the towers have.
void TwoTowerTrainer::ComputeLossOfAll(const MiniBatch& batch) {
  const LossInput all = vectors_.Gather(Vectors(batch), communicator_);
  loss_.Compute(all, vectors_.gradients(), pool_);
  vectors_.CutOut(batch, communicator_, VectorGradients());
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
  WorkList work;
  query_->AddKeptUpdateWork(work);
  if (!shared()) document_->AddKeptUpdateWork(work);
  pool_.Run(work);
  return absl::OkStatus();
}

}  // namespace semrank
