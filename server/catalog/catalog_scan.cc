#include "server/catalog/catalog_scan.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace semrank {
namespace {

struct IsBetter {
  const DocumentCatalog::Snapshot& snapshot;
  bool operator()(const CatalogHit& a, const CatalogHit& b) const {
    // A strict order, also for equal scores, so pieces may be merged in any
    // order.
    if (a.name != b.name) return a.name > b.name;
    if (a.score != b.score) return a.score > b.score;
    return snapshot.record(a.slot).key() < snapshot.record(b.slot).key();
  }
};

bool MayHavePlace(const DocumentCatalog::Snapshot& snapshot,
                  const ScanQuery& query, const Block& block, float least) {
  bool any = false;
  for (std::size_t i = 0; i < block.size; ++i) {
    any |= !(block.scores[i] < least);
  }
  if (query.name == nullptr || any) return any;
  if (block.size < Block::kSlots) {
    for (std::size_t i = 0; i < block.size; ++i) {
      any |= query.name->MayName(*snapshot.names(block.slots[i]));
    }
    return any;
  }
  const NameKeys* const names = snapshot.names(block.slots[0]);
  for (std::uint32_t i = 0; i < Block::kSlots; ++i)
    any |= query.name->MayName(names[i]);
  return any;
}

void AddToBest(const DocumentCatalog::Snapshot& snapshot,
               const ScanQuery& query, BlockScorer& scorer, const Block& block,
               TopDocuments& best) {
  // Nearly always no document has a place; said of all at once that costs
  // little.
  if (!MayHavePlace(snapshot, query, block, best.least_score())) return;
  for (std::size_t i = 0; i < block.size; ++i) {
    CatalogHit hit = {.slot = block.slots[i]};
    // Inline for most, which the query does not name.
    if (query.name != nullptr &&
        query.name->MayName(*snapshot.names(hit.slot))) {
      hit.name = query.name->Match(*snapshot.names(hit.slot),
                                   snapshot.record(hit.slot));
    }
    const float least = hit.name == NameMatch::kNone
                            ? best.least_score()
                            : -std::numeric_limits<float>::infinity();
    if (block.scores[i] < least) continue;
    if (query.excluded_slots.contains(hit.slot)) continue;
    const std::optional<float> score = scorer.Exact(block, i, least);
    if (!score.has_value()) continue;
    hit.score = *score;
    best.Add(snapshot, hit);
  }
}

}  // namespace

void TopDocuments::Add(const DocumentCatalog::Snapshot& snapshot,
                       CatalogHit hit) {
  // Not "is less": what is no number has no place.
  const bool lifted = hit.name != NameMatch::kNone;
  if (!(hit.score >= (lifted ? min_score_ : least_score()))) return;
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

std::size_t ScanCatalog(const DocumentCatalog::Snapshot& snapshot,
                        const ScanQuery& query, std::size_t first,
                        std::size_t last, TopDocuments& best) {
  if (snapshot.model() == nullptr) return 0;
  BlockScorer scorer(snapshot, query);
  Block block;
  std::size_t num_scored = 0;
  const std::size_t end = std::min(last, snapshot.num_slots());
  for (std::size_t slot = first; slot < end; slot += Block::kSlots) {
    scorer.AddSlots(static_cast<std::uint32_t>(slot), block);
    if (block.size == 0) continue;
    scorer.Score(block, best.least_score());
    AddToBest(snapshot, query, scorer, block, best);
    num_scored += block.size;
  }
  return num_scored;
}

SharedScan::SharedScan(const DocumentCatalog::Snapshot* snapshot,
                       const ScanQuery* query, const Options& options)
    : snapshot_(*snapshot),
      query_(*query),
      options_(options),
      num_slots_(snapshot->num_slots()),
      best_(options.top_k, options.min_score) {}

void SharedScan::AskForHelp(WorkerPool& pool) {
  const std::size_t num_pieces =
      (num_slots_ + options_.piece_slots - 1) / options_.piece_slots;
  const auto num_helpers = std::min<std::size_t>(
      // The request's own thread takes a piece too.
      num_pieces == 0 ? 0 : num_pieces - 1, pool.num_threads() - 1);
  for (std::size_t i = 0; i < num_helpers; ++i) Help(pool);
}

void SharedScan::Help(WorkerPool& pool) {
  // One piece, then back to the end of the queue like any other work.
  pool.Submit([self = shared_from_this(), &pool] {
    if (self->ScanNext()) self->Help(pool);
  });
}

bool SharedScan::ScanNext() {
  std::size_t first = 0;
  float floor = 0;
  {
    const MutexLock lock(mutex_);
    if (next_slot_ >= num_slots_) return false;
    first = next_slot_;
    next_slot_ += options_.piece_slots;
    // The piece begins with the worst of the best so far, and so gathers little
    // that has no place in the end.
    floor = best_.least_score();
    ++num_at_work_;
  }
  TopDocuments best(options_.top_k, options_.min_score);
  best.RaiseFloor(floor);
  const std::size_t num_scored =
      ScanCatalog(snapshot_, query_, first, first + options_.piece_slots, best);
  const MutexLock lock(mutex_);
  num_scored_ += num_scored;
  for (const CatalogHit& hit : best.Take(snapshot_)) best_.Add(snapshot_, hit);
  if (--num_at_work_ == 0) idle_.NotifyAll();
  return true;
}

bool SharedScan::is_all_taken() const {
  const MutexLock lock(mutex_);
  return next_slot_ >= num_slots_;
}

// Helpers refer to the snapshot and the query of the request, which end with
// it. Those that are still queued find nothing left to take.
void SharedScan::Stop() {
  const MutexLock lock(mutex_);
  next_slot_ = num_slots_;
  while (num_at_work_ > 0) idle_.Wait(mutex_);
}

std::size_t SharedScan::num_scored() const {
  const MutexLock lock(mutex_);
  return num_scored_;
}

std::vector<CatalogHit> SharedScan::TakeHits() {
  const MutexLock lock(mutex_);
  return best_.Take(snapshot_);
}

}  // namespace semrank
