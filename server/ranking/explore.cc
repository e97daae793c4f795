#include "server/ranking/explore.h"

#include <algorithm>

namespace semrank {

SwappedPair ChoosePair(double rate, std::size_t num_fixed,
                       std::size_t num_results, Random& random) {
  const std::size_t end = std::min(num_results, kMaxExploredPosition);
  // Between returns less than 1, so a rate of 1 explores every list.
  if (random.Between(0, 1) >= rate || end < num_fixed + 2) return {};
  const auto num_free = static_cast<std::uint32_t>(end - num_fixed);
  const std::uint32_t one = random.Below(num_free);
  // The second is one of the others, counted on from the first.
  const std::uint32_t other = (one + 1 + random.Below(num_free - 1)) % num_free;
  const auto first_free = static_cast<std::uint32_t>(num_fixed + 1);
  return {first_free + std::min(one, other), first_free + std::max(one, other)};
}

}  // namespace semrank
