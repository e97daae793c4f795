#include "model/train/towers/two_tower_trainer.h"

#include <utility>

#include "model/base/status_macros.h"
#include "model/train/optimizer/gradient_set.h"
#include "model/train/options/model_size.h"

namespace semrank {
namespace {

using Stage = TaskGraph::Stage;
using Stages = TaskGraph::Stages;

Stages Join(const Stages& some, const Stages& others) {
  Stages all = some;
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

Stage AddPrepareStage(TowerTrainer& tower, TaskGraph& graph) {
  return graph.Add({},
                   [&tower](TaskList& tasks) { tower.AddPrepareTasks(tasks); });
}

Stage AddForwardStage(const TowerSide& side, Stage prepared, bool learn,
                      TaskGraph& graph) {
  return graph.Add({prepared}, [side, learn](TaskList& tasks) {
    side.tower.AddForwardTasks(side.texts, learn, tasks);
  });
}

Stage AddBackwardStage(const TowerSide& side, const Stages& gradients,
                       TaskGraph& graph) {
  return graph.Add(gradients, [side](TaskList& tasks) {
    side.tower.AddBackwardTasks(side.texts, tasks);
  });
}

// Adds the update of a tower after the stages that produce the vectors and the
// deltas of all its texts.
void AddUpdateStages(TowerTrainer& tower, const Stages& vectors,
                     const Stages& deltas, double learning_rate,
                     TaskGraph& graph) {
  // The transpose reads what the forward pass filled and no delta, so it can
  // run while others wait for the loss.
  const Stage transposed = graph.Add(
      vectors, [&tower](TaskList& tasks) { tower.AddTransposeTasks(tasks); });
  const Stage packed =
      graph.Add(Join(deltas, {transposed}),
                [&tower](TaskList& tasks) { tower.AddPackTasks(tasks); });
  graph.Add({packed}, [&tower, learning_rate](TaskList& tasks) {
    tower.AddUpdateTasks(learning_rate, tasks);
  });
}

// Returns the stages that produce the vectors. Titles come first: the scores of
// a pair need the titles of all pairs.
SideStages AddForwardStages(const TowerSides& sides, bool learn,
                            TaskGraph& graph) {
  const Stage titles_prepared = AddPrepareStage(sides.titles.tower, graph);
  const Stage queries_prepared =
      sides.shared() ? titles_prepared
                     : AddPrepareStage(sides.queries.tower, graph);
  const Stage titles =
      AddForwardStage(sides.titles, titles_prepared, learn, graph);
  const Stage queries =
      AddForwardStage(sides.queries, queries_prepared, learn, graph);
  return {.queries = {queries}, .titles = {titles}};
}

// Adds the stages from the vectors and their gradients to the weights.
void AddLearningStages(const TowerSides& sides, const SideStages& vectors,
                       const SideStages& gradients, double learning_rate,
                       TaskGraph& graph) {
  const Stage queries =
      AddBackwardStage(sides.queries, gradients.queries, graph);
  const Stage titles = AddBackwardStage(sides.titles, gradients.titles, graph);
  if (sides.shared()) {
    // There is one update, after the deltas of both sides: its gradient is
    // their sum, and both backward passes read the weights before it.
    AddUpdateStages(sides.queries.tower, Join(vectors.queries, vectors.titles),
                    {queries, titles}, learning_rate, graph);
  } else {
    AddUpdateStages(sides.queries.tower, vectors.queries, {queries},
                    learning_rate, graph);
    AddUpdateStages(sides.titles.tower, vectors.titles, {titles}, learning_rate,
                    graph);
  }
}

// It is the longest task, so it comes first.
void AddConcurrentTasks(const StepContext& step, TaskGraph& graph) {
  if (!step.concurrent_work) return;
  graph.Add({}, [&step](TaskList& tasks) {
    tasks.Add(1, [&step](int, int) { step.concurrent_work(); });
  });
}

}  // namespace

TwoTowerWeights InitialTwoTowerWeights(const TowerOptions& options,
                                       int num_features, std::uint64_t seed) {
  const std::vector<int> widths = TowerWidths(options, num_features);
  TwoTowerWeights weights;
  // Two random streams: the query tower begins the same with or without a tower
  // of its own for documents.
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
                                 const TrainOptions& options,
                                 const Workers& workers)
    : workers_(workers),
      gradient_clip_norm_(options.optimizer.gradient_clip_norm),
      loss_(options.loss.gamma, options.tower.embedding_dim),
      vectors_(options.tower.embedding_dim) {
  const TowerTrainerOptions tower_options = {
      .output_activation = options.tower.activation == v1::ACTIVATION_TANH
                               ? Activation::kTanh
                               : Activation::kLinear,
      .optimizer = options.optimizer,
      .clsm_window = options.tower.clsm_window,
      .keep_gradients =
          gradient_clip_norm_ > 0 || !workers_.processes.is_alone(),
      .dropout = options.tower.dropout,
      .seed = options.seed,
      .num_workers = workers.pool.num_threads()};
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
  absl::Status of_query, of_document;
  // Both sides at once: placing the texts of a large mini-batch takes a while.
  TaskList tasks;
  tasks.Add(1, [&](int, int) {
    of_query = query_->SetTexts(*batch.bags, query_texts_.ids);
  });
  tasks.Add(shared() ? 0 : 1, [&](int, int) {
    of_document = document_->SetTexts(*batch.bags, title_texts_.ids);
  });
  workers_.pool.Run(tasks);
  of_query.Update(of_document);
  return of_query;
}

TowerSides TwoTowerTrainer::Sides() {
  const int num_queries = query_texts_.num_queries;
  const TowerSide queries = {*query_, {0, num_queries}};
  if (shared()) return {queries, {*query_, {num_queries, query_->num_texts()}}};
  return {queries, {*document_, {0, document_->num_texts()}}};
}

LossInput TwoTowerTrainer::Vectors(const MiniBatch& batch) {
  const TowerSides sides = Sides();
  return {&batch, sides.queries.vectors(), sides.titles.vectors()};
}

LossGradients TwoTowerTrainer::VectorGradients() {
  const TowerSides sides = Sides();
  return {sides.queries.vector_gradients(), sides.titles.vector_gradients()};
}

absl::StatusOr<double> TwoTowerTrainer::Loss(const MiniBatch& batch) {
  // Only the first process validates, so it embeds the whole batch, without
  // collective calls.
  SEMRANK_RETURN_IF_ERROR(SetTexts(batch, ShareOf(batch, 0, 1)));
  TaskGraph graph;
  const SideStages vectors = AddForwardStages(Sides(), /*learn=*/false, graph);
  loss_.AddStages(Vectors(batch), {}, vectors, graph);
  workers_.pool.Run(graph);
  return loss_.MeanLoss();
}

absl::StatusOr<double> TwoTowerTrainer::Step(const MiniBatch& batch,
                                             const StepContext& step) {
  Communicator& processes = workers_.processes;
  const BatchShare share = processes.ShareOf(batch);
  // If one process returned an error alone, the others would wait for it in the
  // next collective call.
  SEMRANK_RETURN_IF_ERROR(processes.Agree(SetTexts(batch, share)));
  query_->SetDropoutStream(step.number, query_texts_.places);
  if (!shared()) {
    document_->SetDropoutStream(step.number, title_texts_.places);
  }
  TaskGraph graph;
  AddConcurrentTasks(step, graph);
  SideStages vectors = AddForwardStages(Sides(), /*learn=*/true, graph);
  SideStages gradients;
  if (processes.is_alone()) {
    gradients =
        loss_.AddStages(Vectors(batch), VectorGradients(), vectors, graph);
  } else {
    // The negatives of a pair are in all processes, so the step has two halves,
    // with the exchange of vectors between them. The stages of the second half
    // wait for no vectors.
    workers_.pool.Run(std::exchange(graph, {}));
    ComputeLossOfAll(batch, share);
    vectors = {};
  }
  AddLearningStages(Sides(), vectors, gradients, step.learning_rate, graph);
  workers_.pool.Run(graph);
  if (gradient_clip_norm_ > 0 || !processes.is_alone()) {
    SEMRANK_RETURN_IF_ERROR(UpdateWithKeptGradients());
  }
  return loss_.MeanLoss();
}

// Gathers the vectors of the whole batch, computes its loss, and fills the
// gradients of the vectors that the towers have.
void TwoTowerTrainer::ComputeLossOfAll(const MiniBatch& batch,
                                       const BatchShare& share) {
  const LossInput own = Vectors(batch);
  vectors_.Gather(batch, own.query_vectors, own.title_vectors,
                  workers_.processes);
  loss_.Compute({&batch, vectors_.queries(), vectors_.titles()},
                {vectors_.query_gradients(), vectors_.title_gradients()},
                workers_.pool);
  const LossGradients gradients = VectorGradients();
  vectors_.CutOut(share, gradients.queries, gradients.titles);
}

absl::Status TwoTowerTrainer::UpdateWithKeptGradients() {
  GradientSet gradients;
  query_->AppendGradients(gradients);
  if (!shared()) document_->AppendGradients(gradients);
  // Gradients are summed first: clipping needs the length of the whole batch's
  // gradient, which is equal in all processes. Then every process makes the
  // same update.
  if (!workers_.processes.is_alone()) {
    SEMRANK_RETURN_IF_ERROR(gradients_.Reduce(gradients, workers_));
  }
  if (gradient_clip_norm_ > 0) {
    gradient_norm_ =
        ClipGradients(gradient_clip_norm_, gradients, workers_.pool);
  }
  TaskList tasks;
  query_->AddKeptUpdateTasks(tasks);
  if (!shared()) document_->AddKeptUpdateTasks(tasks);
  workers_.pool.Run(tasks);
  return absl::OkStatus();
}

}  // namespace semrank
