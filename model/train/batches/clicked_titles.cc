#include "model/train/batches/clicked_titles.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace semrank {

ClickedTitles::ClickedTitles(std::span<const TextPair> pairs)
    : titles_(pairs.size()) {
  TextId last_query = 0;
  for (const TextPair& pair : pairs) {
    last_query = std::max(last_query, pair.query);
  }
  offsets_.resize(std::size_t{last_query} + 2);
  for (const TextPair& pair : pairs) ++offsets_[pair.query];
  std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
  // From the end of each query's range to its beginning.
  for (const TextPair& pair : pairs) {
    titles_[--offsets_[pair.query]] = pair.title;
  }
  for (std::size_t q = 0; q <= last_query; ++q) {
    std::sort(titles_.begin() + offsets_[q], titles_.begin() + offsets_[q + 1]);
  }
}

std::span<const TextId> ClickedTitles::Of(TextId query) const {
  if (std::size_t{query} + 1 >= offsets_.size()) return {};
  return std::span(titles_).subspan(offsets_[query],
                                    offsets_[query + 1] - offsets_[query]);
}

}  // namespace semrank
