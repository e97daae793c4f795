// The tower of the DSSM paper (figure 1, eq. 3-5): a bag of letter n-grams
// through tanh layers, the last of them the semantic vector.
//
//   l2 = tanh(W2 x + b2), ..., y = tanh(WN l(N-1) + bN), vector = y / |y|
//
// A tower of one layer is the paper's row 11, or row 10 when linear.
#ifndef SEMRANK_MODEL_NN_DSSM_TOWER_H_
#define SEMRANK_MODEL_NN_DSSM_TOWER_H_

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/nn/dense_layers.h"
#include "model/nn/tower.h"
#include "model/nn/word_sums.h"

namespace semrank {

class DssmTower : public Tower {
 public:
  // layers[0] is the bag layer (in = num_features); its weights are used in
  // place and `storage` keeps them alive. The others become DenseLayers of a
  // model of that precision. Fails as CheckLayers.
  static absl::StatusOr<std::unique_ptr<DssmTower>> Create(
      const std::vector<LayerView>& layers, Activation output_activation,
      std::shared_ptr<const void> storage,
      VectorPrecision precision = VectorPrecision::kFloat32);

  int num_features() const override { return bag_layer_.in; }
  int embedding_dim() const override { return dense_.embedding_dim(); }
  void Embed(const TowerInput& input, TowerScratch& scratch,
             float* vectors) const override;
  // Embeds word by word (word_sums.h), so the bits differ from Embed's by
  // rounding.
  void EmbedTexts(const Featurizer& featurizer,
                  std::span<const std::string_view> normalized_texts,
                  TowerInput& input, TowerScratch& scratch,
                  float* vectors) const override;

 private:
  DssmTower() = default;
  // Embeds texts [first, last); `vectors` begins with text `first`.
  void EmbedBlock(const BagBatch& batch, int first, int last,
                  TowerScratch& scratch, float* vectors) const;

  // Computes vectors from `rows` sums of the first layer. A text without
  // features has the zero vector.
  template <typename HasFeatures>
  void Finish(int rows, float* sums, HasFeatures has_features,
              TowerScratch& scratch, float* vectors) const;

  LayerView bag_layer_;
  DenseLayers dense_;
  std::unique_ptr<WordSums> word_sums_;  // of bag_layer_
  std::shared_ptr<const void> storage_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_NN_DSSM_TOWER_H_
