#include "model/nn/ssi_tower.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/nn/kernels.h"
#include "model/nn/sparse_scorer.h"

namespace semrank {

namespace {

void AddRow(std::uint32_t row, float value, BagBatch& rows) {
  rows.indices.push_back(row);
  rows.counts.push_back(value);
}

}  // namespace

double MixingFactor(float logit) { return 1 / (1 + std::exp(-double{logit})); }

void SsiRows::AppendRows(const BagBatch& words, BagBatch& rows) const {
  const auto num_own = static_cast<std::uint32_t>(num_own_rows());
  // Each side has the square root of a factor on the product.
  const double factor = mixing == nullptr ? 1 : MixingFactor(*mixing);
  const auto own_scale = static_cast<float>(std::sqrt(1 - factor));
  const auto scale = static_cast<float>(std::sqrt(factor));
  for (int text = 0; text < words.num_texts(); ++text) {
    if (mixing != nullptr) {
      const BagView bag = words.Bag(text);
      for (std::size_t i = 0; i < bag.indices.size(); ++i) {
        if (bag.indices[i] >= num_own) continue;
        AddRow(bag.indices[i], bag.counts[i] * own_scale, rows);
      }
      rows.EndBag();
    }
    if (same_rank) {
      AppendSameRank(words.Bag(text), scale, rows);
    } else {
      AppendCorrelated(words.Bag(text), scale, rows);
    }
  }
}

// One bag: a frequent word is its own row, another the mean of its companions.
void SsiRows::AppendCorrelated(const BagView& words, float scale,
                               BagBatch& rows) const {
  const auto num_own = static_cast<std::uint32_t>(num_own_rows());
  const auto first_row = static_cast<std::uint32_t>(num_rows) - num_own;
  // The mean is always divided by k, so that a word with fewer companions has a
  // shorter vector.
  const float share = top_k > 0 ? 1.0f / static_cast<float>(top_k) : 0.0f;
  for (std::size_t i = 0; i < words.indices.size(); ++i) {
    const std::uint32_t word = words.indices[i];
    const float value = words.counts[i] * scale;
    if (word < num_own) {
      AddRow(first_row + word, value, rows);
      continue;
    }
    const float* map = correlated + std::size_t{word - num_own} * top_k;
    // -1 follows the last companion.
    for (int p = 0; p < top_k && map[p] >= 0; ++p) {
      AddRow(first_row + static_cast<std::uint32_t>(map[p]), value * share,
             rows);
    }
  }
  rows.EndBag();
}

// SSI eq. 6 and 7: a bag for each p, which has S_p of each word.
void SsiRows::AppendSameRank(const BagView& words, float scale,
                             BagBatch& rows) const {
  const auto first_row = static_cast<std::uint32_t>(num_rows - num_own_rows());
  const float share = scale / std::sqrt(static_cast<float>(top_k));
  for (int p = 0; p < top_k; ++p) {
    for (std::size_t i = 0; i < words.indices.size(); ++i) {
      const float row = correlated[std::size_t{words.indices[i]} * top_k + p];
      if (row < 0) continue;
      AddRow(first_row + static_cast<std::uint32_t>(row),
             words.counts[i] * share, rows);
    }
    rows.EndBag();
  }
}

absl::StatusOr<std::unique_ptr<SsiTower>> SsiTower::Create(
    const Weights& weights, std::shared_ptr<const void> storage) {
  const SsiRows& rows = weights.rows;
  if (rows.num_words < 1 || rows.num_rows < 0 ||
      rows.num_own_rows() > rows.num_words || weights.dim < 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%d words with %d rows of %d elements are not a tower",
                        rows.num_words, rows.num_rows, weights.dim));
  }
  if (weights.idf == nullptr || (weights.dim > 0 && weights.table == nullptr) ||
      (rows.top_k > 0) != (rows.correlated != nullptr) ||
      ((rows.same_rank || rows.mixing != nullptr) && rows.top_k == 0)) {
    return absl::InvalidArgumentError("the SSI tower lacks weights");
  }
  // make_unique cannot reach the private constructor.
  return std::unique_ptr<SsiTower>(new SsiTower(weights, std::move(storage)));
}

void SsiTower::Embed(const TowerInput& input, TowerScratch& scratch,
                     float* vectors) const {
  // Diagonal and full W have no vectors; the sparse part is their whole score.
  if (weights_.dim == 0) return;
  // Weighing replaces counts, and the caller's bags are const, so this is
  // a copy.
  scratch.words = input.bags;
  const int num_texts = input.bags.num_texts();
  WeighTfIdf(weights_.idf, 0, num_texts, scratch.words);
  const BagBatch* bags = &scratch.words;
  if (!weights_.rows.all_words()) {
    scratch.rows.Clear();
    weights_.rows.AppendRows(scratch.words, scratch.rows);
    bags = &scratch.rows;
  }
  // The blocks of a text are the sums of bags that follow each other.
  SumBags(*bags, 0, num_texts * weights_.rows.num_blocks(), weights_.table,
          weights_.dim, vectors);
}

}  // namespace semrank
