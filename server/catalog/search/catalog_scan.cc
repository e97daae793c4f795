#include "server/catalog/search/catalog_scan.h"

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <optional>
#include <utility>

namespace semrank {
namespace {

struct IsBetter {
  const CatalogSnapshot& snapshot;
  bool operator()(const CatalogHit& a, const CatalogHit& b) const {
    // A strict order, also for equal scores, so pieces may be merged in any
    // order.
    if (a.name != b.name) return a.name > b.name;
    if (a.score != b.score) return a.score > b.score;
    return snapshot.record(a.slot).key() < snapshot.record(b.slot).key();
  }
};

bool IsAnyNamed(const CatalogSnapshot& snapshot, const ScanQuery& query,
                const Block& block) {
  if (query.name == nullptr) return false;
  // Without a branch for each document, so that the compiler can vectorise the
  // loops.
  bool any = false;
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

void AddToBest(const PreparedScan& scan, BlockScorer& scorer,
               const Block& block, TopDocuments& best) {
  const CatalogSnapshot& snapshot = scan.snapshot();
  const ScanQuery& query = scan.query();
  // Nearly always no document has a place; said of all at once that costs
  // little.
  if (!IsAnyAtLeast(std::span(block.scores).first(block.size),
                    best.least_score()) &&
      !IsAnyNamed(snapshot, query, block)) {
    return;
  }
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

// The tasks of a scan with their scorers, block after block.
class BlockScan {
 public:
  // Outlive this.
  explicit BlockScan(std::span<ScanTask> tasks) : tasks_(tasks) {
    for (const ScanTask& task : tasks) scorers_.emplace_back(*task.scan);
  }

  // The 64 slots from `first` on.
  void Scan(std::uint32_t first) {
    Bound(first);
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (first < tasks_[i].scan->snapshot().num_slots()) Add(i, first);
    }
  }

 private:
  // Of the dense parts, for all tasks that want them.
  void Bound(std::uint32_t first) {
    std::array<const BoundQuery*, kMaxSharedScans> queries;
    std::size_t count = 0;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      bounds_of_[i] = nullptr;
      if (!scorers_[i].WantsBounds(first, tasks_[i].best.least_score())) {
        continue;
      }
      queries[count] = tasks_[i].scan->dense_bounds();
      bounds_of_[i] = &bounds_[count++ * Block::kSlots];
    }
    if (count == 0) return;
    // Any snapshot: they share their rows.
    const CatalogSnapshot& snapshot = tasks_[0].scan->snapshot();
    BoundTogether(std::span(queries).first(count), snapshot.codes(first),
                  snapshot.scales(first), Block::kSlots, bounds_.data());
  }

  // The documents of the block to the best of task i.
  void Add(std::size_t i, std::uint32_t first) {
    ScanTask& task = tasks_[i];
    scorers_[i].AddSlots(first, block_);
    if (block_.size == 0) return;
    // Also those that bounds pass over: the response says how many were
    // searched.
    task.num_scored += block_.size;
    if (IsPassedOver(i)) return;
    scorers_[i].Score(block_, task.best.least_score(), bounds_of_[i]);
    AddToBest(*task.scan, scorers_[i], block_, task.best);
  }

  // Whether bounds alone show that no document has a place: so it is for most
  // blocks.
  bool IsPassedOver(std::size_t i) const {
    const PreparedScan& scan = *tasks_[i].scan;
    return bounds_of_[i] != nullptr && scan.query().lexical == nullptr &&
           !IsAnyAtLeast({bounds_of_[i], Block::kSlots},
                         tasks_[i].best.least_score()) &&
           !IsAnyNamed(scan.snapshot(), scan.query(), block_);
  }

  const std::span<ScanTask> tasks_;
  std::deque<BlockScorer> scorers_;  // they cannot be moved
  Block block_;
  std::array<const float*, kMaxSharedScans> bounds_of_;  // null = none
  alignas(64) std::array<float, kMaxSharedScans * Block::kSlots> bounds_;
};

}  // namespace

void TopDocuments::Add(const CatalogSnapshot& snapshot, CatalogHit hit) {
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

std::vector<CatalogHit> TopDocuments::Take(const CatalogSnapshot& snapshot) {
  std::ranges::sort(hits_, IsBetter{snapshot});
  return std::exchange(hits_, {});
}

void ScanCatalog(std::span<ScanTask> tasks, std::size_t first,
                 std::size_t last) {
  std::size_t end = 0;
  for (const ScanTask& task : tasks) {
    end = std::max(end, task.scan->snapshot().num_slots());
  }
  end = std::min(end, last);
  BlockScan scan(tasks);
  for (std::size_t slot = first; slot < end; slot += Block::kSlots) {
    scan.Scan(static_cast<std::uint32_t>(slot));
  }
}

}  // namespace semrank
