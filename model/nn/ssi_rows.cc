#include "model/nn/ssi_rows.h"

#include <cstddef>
#include <cstdint>

namespace semrank {

void SsiRows::AppendRows(const BagBatch& words, BagBatch& rows) const {
  const auto num_own = static_cast<std::uint32_t>(num_rows);
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
      for (int p = 0; p < top_k && map[p] >= 0; ++p) {
        add(static_cast<std::uint32_t>(map[p]), value * share);
      }
    }
    rows.offsets.push_back(static_cast<std::uint32_t>(rows.indices.size()));
  }
}

}  // namespace semrank
