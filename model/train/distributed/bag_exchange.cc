#include "model/train/distributed/bag_exchange.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/strings/str_format.h"

namespace semrank {

absl::Status GatherBags(const BagBatch& own, Communicator& communicator,
                        BagBatch& all) {
  const int n = communicator.num_processes();
  // More than 32 bits hold is too many in any case.
  const std::uint32_t own_counts[] = {
      static_cast<std::uint32_t>(own.num_texts()),
      static_cast<std::uint32_t>(
          std::min<std::size_t>(own.indices.size(), UINT32_MAX))};
  std::vector<std::uint32_t> counts(2 * n);
  communicator.AllGather<std::uint32_t>(own_counts, std::vector<int>(n, 2),
                                        counts);
  std::vector<int> num_bags, num_entries;
  std::int64_t all_bags = 0, all_entries = 0;
  for (int p = 0; p < n; ++p) {
    num_bags.push_back(static_cast<int>(counts[2 * p]));
    num_entries.push_back(static_cast<int>(counts[2 * p + 1]));
    all_bags += counts[2 * p];
    all_entries += counts[2 * p + 1];
  }
  if (all_entries > kMaxExchange) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "%d words of titles are too many to exchange; the limit is %d. "
        "Smaller: --batch_size",
        all_entries, kMaxExchange));
  }
  all.offsets.resize(all_bags + 1);
  all.indices.resize(all_entries);
  all.counts.resize(all_entries);
  communicator.AllGather<std::uint32_t>(std::span(own.offsets).subspan(1),
                                        num_bags,
                                        std::span(all.offsets).subspan(1));
  communicator.AllGather<std::uint32_t>(own.indices, num_entries, all.indices);
  communicator.AllGather<float>(own.counts, num_entries, all.counts);

  // Each process counted from its own first entry.
  std::size_t bag = 1;
  std::uint32_t before = 0;
  for (int p = 0; p < n; ++p) {
    for (int i = 0; i < num_bags[p]; ++i) all.offsets[bag++] += before;
    before += static_cast<std::uint32_t>(num_entries[p]);
  }
  return absl::OkStatus();
}

}  // namespace semrank
