// One pass over a part of the catalog, which several searches share.
#ifndef SEMRANK_SERVER_CATALOG_SEARCH_SCAN_CATALOG_H_
#define SEMRANK_SERVER_CATALOG_SEARCH_SCAN_CATALOG_H_

#include <cstddef>
#include <span>

#include "model/nn/row_bounds.h"
#include "server/catalog/search/block_scorer.h"

namespace semrank {

// The most scorers that share a pass over memory.
inline constexpr std::size_t kMaxSharedScans = kMaxBoundQueries;

// Scores the documents in slots [first, last) with each scorer. `first` is a
// multiple of 64. Several scorers, at most kMaxSharedScans, must share rows
// (ScanQuery::SharesRowsWith).
void ScanCatalog(std::span<BlockScorer> scorers, std::size_t first,
                 std::size_t last);

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_SEARCH_SCAN_CATALOG_H_
