// The tower of the DSSM paper (figure 1, eq. 3-5): a bag of letter n-grams
// through tanh layers, the last of them the semantic vector.
//
//   l2 = tanh(W2 x + b2), ..., y = tanh(WN l(N-1) + bN), vector = y / |y|
//
// A tower of one layer is the paper's row 11, or row 10 when linear.
#ifndef SEMRANK_MODEL_NN_DSSM_TOWER_H_
#define SEMRANK_MODEL_NN_DSSM_TOWER_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "model/nn/gemm.h"
#include "model/nn/matrix.h"
#include "model/nn/tower.h"

namespace semrank {

enum class Activation { kTanh, kLinear };

// One fully connected layer as stored: weight [in, out] row-major, bias [out].
struct LayerView {
  int in = 0;
  int out = 0;
  const float* weight = nullptr;
  const float* bias = nullptr;
};

class DssmTower : public Tower {
 public:
  // layers[0] is the bag layer (in = num_features), its weights are used in
  // place; `storage` keeps them alive. The others are packed. Every layer but
  // the last is tanh, the last is `output_activation`. InvalidArgument when
  // the shapes do not chain or a size is not positive.
  static absl::StatusOr<std::unique_ptr<DssmTower>> Create(
      std::vector<LayerView> layers, Activation output_activation,
      std::shared_ptr<const void> storage);

  int num_features() const override { return layers_.front().in; }
  int embedding_dim() const override { return layers_.back().out; }
  void Embed(const BagBatch& batch, TowerScratch& scratch,
             float* vectors) const override;

 private:
  DssmTower() = default;
  // Texts [first, last) into `vectors`, which begin with text `first`.
  void EmbedBlock(const BagBatch& batch, int first, int last,
                  TowerScratch& scratch, float* vectors) const;

  std::vector<LayerView> layers_;
  std::vector<PackedMatrix> packed_;  // of layers_[1], layers_[2], ...
  Activation output_activation_ = Activation::kTanh;
  std::shared_ptr<const void> storage_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_NN_DSSM_TOWER_H_
