// Scans part of a catalog for one search, in the calling thread.
#ifndef SEMRANK_TESTS_SUPPORT_SCAN_CATALOG_H_
#define SEMRANK_TESTS_SUPPORT_SCAN_CATALOG_H_

#include <cstddef>
#include <utility>

#include "server/catalog/search/catalog_scan.h"

namespace semrank {

// Adds the documents in slots [first, last), which ScanCatalog describes, to
// `best`. Returns how many were scored.
inline std::size_t ScanCatalog(const CatalogSnapshot& snapshot,
                               const ScanQuery& query, std::size_t first,
                               std::size_t last, TopDocuments& best) {
  if (snapshot.model() == nullptr) return 0;
  const PreparedScan scan(&snapshot, &query);
  ScanTask task = {.scan = &scan, .best = std::move(best)};
  ScanCatalog({&task, 1}, first, last);
  best = std::move(task.best);
  return task.num_scored;
}

}  // namespace semrank

#endif  // SEMRANK_TESTS_SUPPORT_SCAN_CATALOG_H_
