#include "server/catalog/top_documents.h"

#include <algorithm>
#include <utility>

namespace semrank {
namespace {

struct IsBetter {
  const DocumentCatalog::Snapshot& snapshot;
  bool operator()(const CatalogHit& a, const CatalogHit& b) const {
    if (a.score != b.score) return a.score > b.score;
    return snapshot.record(a.slot).key() < snapshot.record(b.slot).key();
  }
};

}  // namespace

void TopDocuments::Add(const DocumentCatalog::Snapshot& snapshot,
                       CatalogHit hit) {
  // Not "is less": what is no number has no place.
  if (!(hit.score >= least_score())) return;
  const IsBetter is_better{snapshot};
  if (hits_.size() == capacity_) {
    if (!is_better(hit, hits_.front())) return;
    std::ranges::pop_heap(hits_, is_better);
    hits_.pop_back();
  }
  hits_.push_back(hit);
  std::ranges::push_heap(hits_, is_better);
}

std::vector<CatalogHit> TopDocuments::Take(
    const DocumentCatalog::Snapshot& snapshot) {
  std::ranges::sort(hits_, IsBetter{snapshot});
  return std::exchange(hits_, {});
}

}  // namespace semrank
