#include "model/train/towers/input_layer_trainer.h"

namespace semrank {

absl::Status BagInputTrainer::SetTexts(const TextBags& texts,
                                       std::span<const TextId> ids) {
  texts_ = &texts;
  ids_ = ids;
  return texts.Layout(ids, bags_);
}

void BagInputTrainer::Forward(int first, int last, bool /*learn*/,
                              float* outputs) {
  // Layout has only placed the bags. Each block fills its own, in parallel and
  // just before it reads them.
  texts_->Fill(ids_, first, last, bags_);
  layer_.Forward(bags_, first, last, outputs);
  layer_.AddBias(last - first, outputs);
}

bool BagInputTrainer::HasFeatures(int text) const {
  return bags_.offsets[text] != bags_.offsets[text + 1];
}

void BagInputTrainer::AddTransposeTasks(TaskList& tasks) {
  tasks.Add(1, [this](int, int) { layer_.TransposeBags(bags_); });
}

void BagInputTrainer::AddUpdateTasks(double learning_rate, const float* deltas,
                                     WorkerScratch& scratch, TaskList& tasks) {
  layer_.BeginStep(learning_rate);
  tasks.Add(1, [this, deltas, &scratch](int, int worker) {
    layer_.UpdateBias(deltas, bags_.num_texts(), scratch[worker]);
  });
  tasks.Add(layer_.num_tasks(), [this, deltas, &scratch](int task, int worker) {
    layer_.RunUpdateTask(deltas, task, scratch[worker]);
  });
}

}  // namespace semrank
