// One side of SSI's dense part: U q or V d of tf-idf words (SSI eq. 3, W = U'V
// + I). Not scaled to length 1: SSI's score is a dot product.
#ifndef SEMRANK_MODEL_NN_SSI_TOWER_H_
#define SEMRANK_MODEL_NN_SSI_TOWER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "model/nn/ssi_rows.h"
#include "model/nn/tower.h"

namespace semrank {

class SsiTower : public Tower {
 public:
  struct Weights {
    const float* idf = nullptr;  // [rows.num_words]
    SsiRows rows;
    int dim = 0;                   // 0 = vectors of no numbers
    const float* table = nullptr;  // U' or V', [rows.num_rows, dim]
  };

  // Uses the weights in place; `storage`, which may be null, keeps them alive.
  // InvalidArgument when one is missing or a size makes no sense.
  static absl::StatusOr<std::unique_ptr<SsiTower>> Create(
      const Weights& weights, std::shared_ptr<const void> storage);

  int num_features() const override { return weights_.rows.num_words; }
  int embedding_dim() const override { return weights_.dim; }
  void Embed(const TowerInput& input, TowerScratch& scratch,
             float* vectors) const override;

 private:
  SsiTower(const Weights& weights, std::shared_ptr<const void> storage)
      : weights_(weights), storage_(std::move(storage)) {}

  Weights weights_;
  std::shared_ptr<const void> storage_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_NN_SSI_TOWER_H_
