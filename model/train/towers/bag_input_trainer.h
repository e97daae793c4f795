// The input layer of DSSM as it learns: one bag a text, z = x W + b (eq. 3).
#ifndef SEMRANK_MODEL_TRAIN_TOWERS_BAG_INPUT_TRAINER_H_
#define SEMRANK_MODEL_TRAIN_TOWERS_BAG_INPUT_TRAINER_H_

#include <span>

#include "model/text/featurizer.h"
#include "model/train/towers/bag_layer_trainer.h"
#include "model/train/towers/input_layer_trainer.h"

namespace semrank {

class BagInputTrainer : public InputLayerTrainer {
 public:
  // `weights` outlive the layer and do not move.
  BagInputTrainer(LayerWeights& weights, const OptimizerOptions& options)
      : layer_(weights, options) {}

  absl::Status SetTexts(const TextBags& texts,
                        std::span<const TextId> ids) override;
  // The bags are filled as Forward comes to them.
  void AddPrepareWork(WorkList&) override {}
  void Forward(int first, int last, bool learn, float* outputs) override;
  bool HasFeatures(int text) const override;
  void AddTransposeWork(WorkList& work) override;
  void AddPackWork(const float*, WorkList&) override {}
  void AddUpdateWork(double learning_rate, const float* deltas,
                     WorkerScratch& scratch, WorkList& work) override;

  BagLayerTrainer& bag_layer() override { return layer_; }

 private:
  BagLayerTrainer layer_;
  const TextBags* texts_ = nullptr;
  std::span<const TextId> ids_;
  BagBatch bags_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_TOWERS_BAG_INPUT_TRAINER_H_
