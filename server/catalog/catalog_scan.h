// Scores the documents of the catalog against a query, in one pass over their
// vectors in the order in which they lie in memory.
//
//   Score    to the last bit the one that Rank gives the same pair.
//   Cost     reading the vectors: about 20 ns a document of 128 numbers. With a
//            sparse part (SSI) each title is read too: about a microsecond.
//   Threads  free functions, from any thread.
#ifndef SEMRANK_SERVER_CATALOG_CATALOG_SCAN_H_
#define SEMRANK_SERVER_CATALOG_CATALOG_SCAN_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "server/catalog/document_catalog.h"
#include "server/catalog/top_documents.h"

namespace semrank {

struct ScanQuery {
  std::string_view text = {};  // normalised
  const float* row = nullptr;  // its vector, of the snapshot's model
  absl::flat_hash_set<std::uint32_t> excluded_slots = {};
};

// Adds the documents in slots [first, last) to `best`. `first` is a multiple of
// 64; slots from num_slots() on are passed over.
void ScanCatalog(const DocumentCatalog::Snapshot& snapshot,
                 const ScanQuery& query, std::size_t first, std::size_t last,
                 TopDocuments& best);

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_CATALOG_SCAN_H_
