#include "model/train/towers/two_tower_stages.h"

namespace semrank {
namespace {

using Stage = WorkGraph::Stage;
using Stages = WorkGraph::Stages;

Stages Join(const Stages& some, const Stages& others) {
  Stages all = some;
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

Stage AddPrepareStage(TowerTrainer& tower, WorkGraph& graph) {
  return graph.Add({},
                   [&tower](WorkList& work) { tower.AddPrepareWork(work); });
}

Stage AddForwardStage(const TowerSide& side, Stage prepared, bool learn,
                      WorkGraph& graph) {
  return graph.Add({prepared}, [side, learn](WorkList& work) {
    side.tower.AddForwardWork(side.texts, learn, work);
  });
}

Stage AddBackwardStage(const TowerSide& side, const Stages& gradients,
                       WorkGraph& graph) {
  return graph.Add(gradients, [side](WorkList& work) {
    side.tower.AddBackwardWork(side.texts, work);
  });
}

// Of all texts of the tower, whose vectors and deltas are there after these.
void AddUpdateStages(TowerTrainer& tower, const Stages& vectors,
                     const Stages& deltas, double learning_rate,
                     WorkGraph& graph) {
  const Stage transposed = graph.Add(
      vectors, [&tower](WorkList& work) { tower.AddTransposeWork(work); });
  const Stage packed =
      graph.Add(Join(deltas, {transposed}),
                [&tower](WorkList& work) { tower.AddPackWork(work); });
  graph.Add({packed}, [&tower, learning_rate](WorkList& work) {
    tower.AddUpdateWork(learning_rate, work);
  });
}

}  // namespace

// Titles first: the scores of a pair wait for those of all pairs.
SideStages AddForwardStages(const TowerSides& sides, bool learn,
                            WorkGraph& graph) {
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

void AddLearningStages(const TowerSides& sides, const SideStages& vectors,
                       const SideStages& gradients, double learning_rate,
                       WorkGraph& graph) {
  const Stage queries =
      AddBackwardStage(sides.queries, gradients.queries, graph);
  const Stage titles = AddBackwardStage(sides.titles, gradients.titles, graph);
  if (sides.shared()) {
    AddUpdateStages(sides.queries.tower, Join(vectors.queries, vectors.titles),
                    {queries, titles}, learning_rate, graph);
  } else {
    AddUpdateStages(sides.queries.tower, vectors.queries, {queries},
                    learning_rate, graph);
    AddUpdateStages(sides.titles.tower, vectors.titles, {titles}, learning_rate,
                    graph);
  }
}

}  // namespace semrank
