// The stages of one training step of two towers, with the loss between them.
// What one side does and the other does not wait for fills the gaps in which
// threads would be idle: with separate towers, two threads wait for each other
// at the end of a step only.
//
//   titles    forward                       backward, update
//   loss               scores, gradients
//   queries   forward                       backward, update
//
//   Threads   one thread adds; ThreadPool::Run does the work.
#ifndef SEMRANK_MODEL_TRAIN_TOWERS_TWO_TOWER_STAGES_H_
#define SEMRANK_MODEL_TRAIN_TOWERS_TWO_TOWER_STAGES_H_

#include <cstddef>

#include "model/base/work_graph.h"
#include "model/train/batches/batch_share.h"
#include "model/train/towers/softmax_loss.h"
#include "model/train/towers/tower_trainer.h"

namespace semrank {

// The queries or the titles of a mini-batch: a range of the texts that a tower
// was given.
struct TowerSide {
  TowerTrainer& tower;
  Range texts;

  // Of the first of the texts.
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

// Returned is after which stages the vectors are there.
SideStages AddForwardStages(const TowerSides& sides, bool learn,
                            WorkGraph& graph);

// From vectors and their gradients, which are there after these stages, down to
// the weights.
void AddLearningStages(const TowerSides& sides, const SideStages& vectors,
                       const SideStages& gradients, double learning_rate,
                       WorkGraph& graph);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_TOWERS_TWO_TOWER_STAGES_H_
