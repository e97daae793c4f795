// The best documents of those that came by, of the catalog.
//
//   Order    score falling; equal scores: numbers before names, each ascending.
//   Threads  none of its own.
#ifndef SEMRANK_SERVER_CATALOG_TOP_DOCUMENTS_H_
#define SEMRANK_SERVER_CATALOG_TOP_DOCUMENTS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "server/catalog/document_catalog.h"

namespace semrank {

struct CatalogHit {
  std::uint32_t slot = 0;
  float score = 0;
};

class TopDocuments {
 public:
  // At most `capacity`, at least 1, of those that score at least `min_score`.
  TopDocuments(std::size_t capacity, float min_score)
      : capacity_(capacity), min_score_(min_score) {}

  // No document with a lower score has a place.
  float least_score() const {
    return hits_.size() < capacity_ ? min_score_ : hits_.front().score;
  }
  // Where the hit belongs, if it has a place. Slots are of `snapshot`, the same
  // in every call.
  void Add(const DocumentCatalog::Snapshot& snapshot, CatalogHit hit);
  // Best first; nothing is left.
  std::vector<CatalogHit> Take(const DocumentCatalog::Snapshot& snapshot);

 private:
  const std::size_t capacity_;
  const float min_score_;
  // A heap with the worst in front.
  std::vector<CatalogHit> hits_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_TOP_DOCUMENTS_H_
