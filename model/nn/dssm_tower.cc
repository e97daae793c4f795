#include "model/nn/dssm_tower.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "model/base/status_macros.h"
#include "model/nn/kernels.h"

namespace semrank {
namespace {

// Texts that pass through all layers together, so that their activations stay
// in the L2 cache. Does not change the result.
constexpr int kDssmBlockTexts = 96;

}  // namespace

absl::StatusOr<std::unique_ptr<DssmTower>> DssmTower::Create(
    const std::vector<LayerView>& layers, Activation output_activation,
    std::shared_ptr<const void> storage, VectorPrecision precision) {
  SEMRANK_RETURN_IF_ERROR(CheckLayers(layers));
  // make_unique cannot reach the private constructor.
  std::unique_ptr<DssmTower> tower(new DssmTower());
  tower->bag_layer_ = layers.front();
  tower->word_sums_ = std::make_unique<WordSums>(tower->bag_layer_.weight,
                                                 tower->bag_layer_.out);
  tower->dense_ = DenseLayers(layers, output_activation, precision);
  tower->storage_ = std::move(storage);
  return tower;
}

void DssmTower::Embed(const TowerInput& input, TowerScratch& scratch,
                      float* vectors) const {
  const BagBatch& batch = input.bags;
  for (int first = 0; first < batch.num_texts(); first += kDssmBlockTexts) {
    const int last = std::min(first + kDssmBlockTexts, batch.num_texts());
    EmbedBlock(batch, first, last, scratch,
               vectors + static_cast<std::ptrdiff_t>(first) * embedding_dim());
  }
}

void DssmTower::EmbedBlock(const BagBatch& batch, int first, int last,
                           TowerScratch& scratch, float* vectors) const {
  const int rows = last - first;
  float* sums = dense_.Input(rows, scratch, vectors);
  // x W for a bag x of some tens of features is a sum of that many rows of W,
  // each times its count: a gather, not a matrix product.
  SumBags(batch, first, last, bag_layer_.weight, bag_layer_.out, sums);
  Finish(
      rows, sums, [&](int i) { return !batch.empty(first + i); }, scratch,
      vectors);
}

void DssmTower::EmbedTexts(const Featurizer& featurizer,
                           std::span<const std::string_view> normalized_texts,
                           TowerInput&, TowerScratch& scratch,
                           float* vectors) const {
  RowLists& lists = scratch.row_lists;
  // AppendTexts may stop before the end of a block, when the words to be summed
  // fill the L2 cache. What it has not appended comes next.
  while (!normalized_texts.empty()) {
    lists.Clear();
    normalized_texts = normalized_texts.subspan(
        word_sums_->AppendTexts(featurizer,
                                normalized_texts.first(std::min<std::size_t>(
                                    normalized_texts.size(), kDssmBlockTexts)),
                                lists));
    const int rows = lists.num_texts();
    float* const sums = dense_.Input(rows, scratch, vectors);
    SumRows(lists.offsets, lists.rows.data(), bag_layer_.out, sums);
    Finish(
        rows, sums, [&](int i) { return !lists.empty(i); }, scratch, vectors);
    vectors += static_cast<std::ptrdiff_t>(rows) * embedding_dim();
  }
}

template <typename HasFeatures>
void DssmTower::Finish(int rows, float* sums, HasFeatures has_features,
                       TowerScratch& scratch, float* vectors) const {
  AddBias(bag_layer_.bias, rows, bag_layer_.out, sums);
  dense_.Finish(rows, sums, scratch, vectors);
  ClearEmptyTexts(rows, embedding_dim(), has_features, vectors);
}

}  // namespace semrank
