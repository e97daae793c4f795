// Scans a part of a catalog for one query, in the calling thread.
#ifndef SEMRANK_TESTS_SUPPORT_SCAN_CATALOG_H_
#define SEMRANK_TESTS_SUPPORT_SCAN_CATALOG_H_

#include <cstddef>
#include <utility>

#include "server/catalog/search/block_scorer.h"
#include "server/catalog/search/scan_catalog.h"

namespace semrank {

// Adds the documents in slots [first, last), as ScanCatalog does, to `best`.
// Returns how many were scored.
inline std::size_t ScanCatalog(const ScanQuery& query, std::size_t first,
                               std::size_t last, TopDocuments& best) {
  if (query.snapshot().model() == nullptr) return 0;
  BlockScorer scorer(query, std::move(best));
  ScanCatalog({&scorer, 1}, first, last);
  best = std::move(scorer.best());
  return scorer.num_scored();
}

}  // namespace semrank

#endif  // SEMRANK_TESTS_SUPPORT_SCAN_CATALOG_H_
