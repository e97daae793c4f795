#include "server/catalog/search/scan_query.h"

#include <span>
#include <utility>

namespace semrank {
namespace {

// A strict order, also for equal scores, so that hits of several pieces can be
// merged in any order.
struct IsBetter {
  const CatalogSnapshot& snapshot;
  bool operator()(const CatalogHit& a, const CatalogHit& b) const {
    if (a.name != b.name) return a.name > b.name;
    if (a.score != b.score) return a.score > b.score;
    return snapshot.record(a.slot).key() < snapshot.record(b.slot).key();
  }
};

}  // namespace

SlotFilter::SlotFilter(const CatalogSnapshot* snapshot, const TagFilter& filter)
    : snapshot_(*snapshot),
      tags_(filter),
      verdicts_(
          std::make_unique<std::atomic<Verdict>[]>(snapshot->num_tag_sets())) {}

bool SlotFilter::Keeps(std::uint32_t slot) const {
  std::atomic<Verdict>& verdict = verdicts_[snapshot_.tag_set(slot)];
  const Verdict known = verdict.load(std::memory_order_relaxed);
  if (known != kUnknown) return known == kKept;
  const bool keeps = tags_.Keeps(snapshot_.record(slot).packed_tags());
  // Relaxed order suffices: no other data is published through it.
  verdict.store(keeps ? kKept : kDropped, std::memory_order_relaxed);
  return keeps;
}

ScanQuery::ScanQuery(const CatalogSnapshot* snapshot, Input input)
    : snapshot_(*snapshot), input_(std::move(input)) {
  if (snapshot_.model() == nullptr) return;
  const int dim = snapshot_.model()->model->embedding_dim();
  // An SSI model may have no vectors at all.
  has_dense_ = dim > 0 && input_.parts != ModelParts::kLexical;
  // SSI's words have no bound, so with them every document is scored.
  has_bounds_ =
      (has_dense_ ? snapshot_.has_codes() : input_.lexical != nullptr) &&
      input_.words == nullptr;
  if (!has_dense_ || !snapshot_.has_codes()) return;
  dense_bounds_.Prepare({input_.row, static_cast<std::size_t>(dim)});
}

bool TopDocuments::HasPlace(const CatalogSnapshot& snapshot,
                            const CatalogHit& hit) const {
  // The negation also excludes NaN.
  if (!(hit.score >= min_score_)) return false;
  return worst() == nullptr || IsBetter{snapshot}(hit, *worst());
}

void TopDocuments::Add(const CatalogSnapshot& snapshot, const CatalogHit& hit) {
  if (!HasPlace(snapshot, hit)) return;
  const IsBetter is_better{snapshot};
  // With IsBetter as its order, the heap has the worst hit in front.
  if (hits_.size() == capacity_) {
    std::ranges::pop_heap(hits_, is_better);
    hits_.pop_back();
  }
  hits_.push_back(hit);
  std::ranges::push_heap(hits_, is_better);
}

std::vector<CatalogHit> TopDocuments::Take(const CatalogSnapshot& snapshot) {
  std::ranges::sort(hits_, IsBetter{snapshot});
  return std::exchange(hits_, {});
}

}  // namespace semrank
