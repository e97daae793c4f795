#include "model/nn/ssi_tower.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "model/nn/kernels.h"
#include "model/nn/tfidf.h"

namespace semrank {

absl::StatusOr<std::unique_ptr<SsiTower>> SsiTower::Create(
    const Weights& weights, std::shared_ptr<const void> storage) {
  const SsiRows& rows = weights.rows;
  if (rows.num_words < 1 || rows.num_rows < 0 ||
      rows.num_rows > rows.num_words || weights.dim < 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%d words, %d rows of %d numbers make no tower",
                        rows.num_words, rows.num_rows, weights.dim));
  }
  if (weights.idf == nullptr || (weights.dim > 0 && weights.table == nullptr) ||
      (rows.top_k > 0 && rows.correlated == nullptr)) {
    return absl::InvalidArgumentError("the SSI tower lacks weights");
  }
  // make_unique cannot reach the private constructor.
  return std::unique_ptr<SsiTower>(new SsiTower(weights, std::move(storage)));
}

void SsiTower::Embed(const TowerInput& input, TowerScratch& scratch,
                     float* vectors) const {
  if (weights_.dim == 0) return;
  scratch.words = input.bags;
  const int num_texts = input.bags.num_texts();
  WeighTfIdf(weights_.idf, 0, num_texts, scratch.words);
  const BagBatch* bags = &scratch.words;
  if (!weights_.rows.all_words()) {
    scratch.rows.Clear();
    weights_.rows.AppendRows(scratch.words, scratch.rows);
    bags = &scratch.rows;
  }
  SumBags(*bags, 0, num_texts, weights_.table, weights_.dim, vectors);
}

}  // namespace semrank
