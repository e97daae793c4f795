#include "model/eval/relevant_ranks.h"

#include <algorithm>
#include <cstddef>

namespace semrank {

std::vector<RankedGrade> RankRelevant(
    std::span<const float> scores, std::span<const GradedPosition> relevant) {
  if (relevant.empty()) return {};
  std::vector<GradedPosition> order(relevant.begin(), relevant.end());
  const auto before = [scores](const GradedPosition& a,
                               const GradedPosition& b) {
    const float score_a = scores[a.position], score_b = scores[b.position];
    return score_a != score_b ? score_a > score_b : a.position < b.position;
  };
  std::sort(order.begin(), order.end(), before);

  // num_before[i]: documents that come before relevant document i and not
  // before the one ahead of it.
  std::vector<std::int64_t> num_before(order.size() + 1);
  const float lowest = scores[order.back().position];
  for (std::uint32_t position = 0; position < scores.size(); ++position) {
    if (scores[position] < lowest) continue;
    const auto beaten = std::upper_bound(order.begin(), order.end(),
                                         GradedPosition{position, 0}, before);
    ++num_before[beaten - order.begin()];
  }

  std::vector<RankedGrade> ranked(order.size());
  std::int64_t rank = 1;
  for (std::size_t i = 0; i < order.size(); ++i) {
    rank += num_before[i];
    ranked[i] = {rank, order[i].grade};
  }
  return ranked;
}

}  // namespace semrank
