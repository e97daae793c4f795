#include "model/nn/ssi_tower.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/nn/kernels.h"
#include "model/nn/tfidf.h"

namespace semrank {

void SsiRows::AppendRows(const BagBatch& words, BagBatch& rows) const {
  const auto num_own = static_cast<std::uint32_t>(num_rows);
  // The mean of k maps (SSI eq. 6): always divided by k, so that a word with
  // fewer companions has a shorter vector.
  const float share = top_k > 0 ? 1.0f / static_cast<float>(top_k) : 0.0f;
  const auto add = [&rows](std::uint32_t row, float value) {
    rows.indices.push_back(row);
    rows.counts.push_back(value);
  };
  for (int text = 0; text < words.num_texts(); ++text) {
    for (std::uint32_t i = words.offsets[text]; i < words.offsets[text + 1];
         ++i) {
      const std::uint32_t word = words.indices[i];
      const float value = words.counts[i];
      if (word < num_own) {
        add(word, value);
        continue;
      }
      const float* map = correlated + std::size_t{word - num_own} * top_k;
      // -1 follows the last companion.
      for (int p = 0; p < top_k && map[p] >= 0; ++p) {
        add(static_cast<std::uint32_t>(map[p]), value * share);
      }
    }
    rows.offsets.push_back(static_cast<std::uint32_t>(rows.indices.size()));
  }
}

absl::StatusOr<std::unique_ptr<SsiTower>> SsiTower::Create(
    const Weights& weights, std::shared_ptr<const void> storage) {
  const SsiRows& rows = weights.rows;
  if (rows.num_words < 1 || rows.num_rows < 0 ||
      rows.num_rows > rows.num_words || weights.dim < 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%d words with %d rows of %d elements make no tower",
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
  // Diagonal and full W have no vectors; the sparse part is their whole score.
  if (weights_.dim == 0) return;
  // A copy: weighing replaces counts, and the caller's bags are const.
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
