#include "server/ranking/pooling_winners.h"

#include <algorithm>
#include <numeric>

#include "model/nn/clsm_tower.h"
#include "model/text/normalizer.h"

namespace semrank {
namespace {

std::string JoinWords(const std::vector<std::string_view>& words, int first,
                      int last) {
  std::string joined;
  for (int i = std::max(first, 0);
       i <= std::min(last, static_cast<int>(words.size()) - 1); ++i) {
    if (!joined.empty()) joined += ' ';
    joined += words[i];
  }
  return joined;
}

}  // namespace

std::vector<PoolingWinner> FindPoolingWinners(const TwoTowerModel& model,
                                              Side side,
                                              std::string_view normalized,
                                              std::uint32_t max_units) {
  const auto* const tower = dynamic_cast<const ClsmTower*>(&model.tower(side));
  if (tower == nullptr) return {};
  EmbedScratch scratch;
  tower->AppendText(model.featurizer(), normalized, scratch.input);
  const std::vector<PooledUnit> pooled =
      tower->PoolText(scratch.input, 0, scratch.tower);

  std::vector<std::uint32_t> units(pooled.size());
  std::iota(units.begin(), units.end(), 0);
  std::ranges::stable_sort(units, std::greater<>(), [&](std::uint32_t unit) {
    return pooled[unit].activation;
  });
  units.resize(std::min<std::size_t>(units.size(), max_units));

  std::vector<std::string_view> words;
  ForEachWord(normalized,
              [&](std::string_view word) { words.push_back(word); });
  const int half = tower->window() / 2;
  std::vector<PoolingWinner> winners;
  for (const std::uint32_t unit : units) {
    const int position = pooled[unit].word;
    winners.push_back({unit, pooled[unit].activation,
                       static_cast<std::uint32_t>(position),
                       std::string(words[position]),
                       JoinWords(words, position - half, position + half)});
  }
  return winners;
}

}  // namespace semrank
