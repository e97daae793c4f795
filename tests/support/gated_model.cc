#include "tests/support/gated_model.h"

#include "tests/support/tiny_model.h"

namespace semrank {
namespace {

// One tower of `model`, behind a gate unless that is null.
class GatedTower final : public Tower {
 public:
  GatedTower(std::shared_ptr<const TwoTowerModel> model, Side side, Gate* gate)
      : model_(std::move(model)), tower_(model_->tower(side)), gate_(gate) {}

  int num_features() const override { return tower_.num_features(); }
  int embedding_dim() const override { return tower_.embedding_dim(); }
  void AppendText(const Featurizer& featurizer, std::string_view normalized,
                  TowerInput& input) const override {
    tower_.AppendText(featurizer, normalized, input);
  }
  void Embed(const TowerInput& input, TowerScratch& scratch,
             float* vectors) const override {
    if (gate_ != nullptr) gate_->Pass();
    tower_.Embed(input, scratch, vectors);
  }

 private:
  std::shared_ptr<const TwoTowerModel> model_;
  const Tower& tower_;
  Gate* gate_;
};

}  // namespace

std::shared_ptr<const TwoTowerModel> MakeGatedModel(Gate* gate) {
  const auto tiny = MakeTinyModel();
  return TwoTowerModel::Create(
             tiny->version(), tiny->config(), tiny->featurizer(),
             std::make_shared<GatedTower>(tiny, Side::kQuery, nullptr),
             std::make_shared<GatedTower>(tiny, Side::kDocument, gate))
      .value();
}

}  // namespace semrank
