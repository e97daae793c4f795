#include "server/ranking/ranking_comparison.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace semrank {

RankingComparison CompareRankings(std::span<const RankedDocument> shown,
                                  std::span<const RankedDocument> other) {
  absl::flat_hash_map<std::uint32_t, std::size_t> place_in_other;
  for (std::size_t i = 0; i < other.size(); ++i) {
    place_in_other.emplace(other[i].index, i);
  }
  const std::size_t num_first = std::min(shown.size(), kComparedOverlap);
  std::vector<std::size_t> places;
  for (const RankedDocument& document :
       shown.first(std::min(shown.size(), kComparedOrder))) {
    const auto found = place_in_other.find(document.index);
    places.push_back(found == place_in_other.end() ? other.size()
                                                   : found->second);
  }
  RankingComparison comparison;
  if (num_first > 0) {
    const auto common =
        std::count_if(places.begin(), places.begin() + num_first,
                      [&](std::size_t place) { return place < num_first; });
    comparison.overlap =
        static_cast<double>(common) / static_cast<double>(num_first);
  }
  const std::size_t size = places.size();
  if (size < 2) return comparison;
  // The difference between pairs in the same and in the opposite order.
  std::int64_t difference = 0;
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = i + 1; j < size; ++j) {
      difference += (places[i] < places[j]) - (places[i] > places[j]);
    }
  }
  const auto num_pairs = static_cast<double>(size * (size - 1) / 2);
  comparison.correlation = static_cast<double>(difference) / num_pairs;
  return comparison;
}

}  // namespace semrank
