#include "server/catalog/catalog_scan.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "model/nn/cosine_scorer.h"
#include "server/vectors/sparse_scores.h"
#include "server/vectors/text_embedder.h"

namespace semrank {
namespace {

struct IsBetter {
  const DocumentCatalog::Snapshot& snapshot;
  bool operator()(const CatalogHit& a, const CatalogHit& b) const {
    if (a.score != b.score) return a.score > b.score;
    return snapshot.record(a.slot).key() < snapshot.record(b.slot).key();
  }
};

constexpr std::uint32_t kBlock = CatalogSlots::kBlockSlots;

// The documents of one block and their scores.
struct Block {
  std::array<std::uint32_t, kBlock> slots;
  std::array<float, kBlock> scores;
  std::size_t size = 0;
};

void AddSeenSlots(const DocumentCatalog::Snapshot& snapshot,
                  std::uint32_t first, Block& block) {
  const auto last = static_cast<std::uint32_t>(
      std::min<std::size_t>(first + kBlock, snapshot.num_slots()));
  block.size = 0;
  for (std::uint32_t slot = first; slot < last; ++slot) {
    if (snapshot.IsSeen(slot)) block.slots[block.size++] = slot;
  }
}

// A block with gaps: slots that are not seen are not read, since the writer may
// be filling them.
void ScoreSeenSlots(const DocumentCatalog::Snapshot& snapshot, int dim,
                    const ScanQuery& query, Block& block) {
  std::array<const float*, kBlock> rows;
  for (std::size_t i = 0; i < block.size; ++i) {
    rows[i] = snapshot.vector(block.slots[i]);
  }
  ScoreDocuments(query.row, std::span(rows).first(block.size), dim,
                 std::span(block.scores).first(block.size));
}

void AddToBest(const DocumentCatalog::Snapshot& snapshot,
               const ScanQuery& query, std::uint32_t slot, float score,
               TopDocuments& best) {
  if (score < best.least_score()) return;
  if (query.excluded_slots.contains(slot)) return;
  best.Add(snapshot, {slot, score});
}

void ScanBlock(const DocumentCatalog::Snapshot& snapshot, int dim,
               const ScanQuery& query, std::uint32_t first, Block& block,
               TopDocuments& best) {
  if (snapshot.IsWholeBlockSeen(first / kBlock)) {
    ScoreFarMatrix(query.row, snapshot.vector(first), dim, block.scores);
    // Nearly always none has a place; said of all at once that costs little.
    const float least = best.least_score();
    bool any = false;
    for (const float score : block.scores) any |= score >= least;
    if (!any) return;
    for (std::uint32_t i = 0; i < kBlock; ++i) {
      AddToBest(snapshot, query, first + i, block.scores[i], best);
    }
    return;
  }
  AddSeenSlots(snapshot, first, block);
  ScoreSeenSlots(snapshot, dim, query, block);
  for (std::size_t i = 0; i < block.size; ++i) {
    AddToBest(snapshot, query, block.slots[i], block.scores[i], best);
  }
}

// With a sparse part, for which the titles are read.
void ScanBlockWithWords(const DocumentCatalog::Snapshot& snapshot,
                        const TwoTowerModel& model, const ScanQuery& query,
                        std::uint32_t first, TextBatch& titles, Block& block,
                        TopDocuments& best) {
  AddSeenSlots(snapshot, first, block);
  titles.Clear();
  for (std::size_t i = 0; i < block.size; ++i) {
    // The catalog takes only UTF-8.
    const std::string_view title = snapshot.record(block.slots[i]).title();
    if (!titles.Add(title).ok()) titles.AddNormalized("");
  }
  block.scores.fill(0);
  if (model.embedding_dim() > 0) {
    ScoreSeenSlots(snapshot, model.embedding_dim(), query, block);
  }
  AddSparseScores(model, query.text, titles,
                  std::span(block.scores).first(block.size));
  for (std::size_t i = 0; i < block.size; ++i) {
    AddToBest(snapshot, query, block.slots[i], block.scores[i], best);
  }
}

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

void ScanCatalog(const DocumentCatalog::Snapshot& snapshot,
                 const ScanQuery& query, std::size_t first, std::size_t last,
                 TopDocuments& best) {
  const ServedModelPtr served = snapshot.model();
  if (served == nullptr) return;
  const TwoTowerModel& model = *served->model;
  const bool words = model.sparse_scorer() != nullptr;
  TextBatch titles;
  Block block;
  const std::size_t end = std::min(last, snapshot.num_slots());
  for (std::size_t slot = first; slot < end; slot += kBlock) {
    const auto begin = static_cast<std::uint32_t>(slot);
    if (words) {
      ScanBlockWithWords(snapshot, model, query, begin, titles, block, best);
    } else {
      ScanBlock(snapshot, model.embedding_dim(), query, begin, block, best);
    }
  }
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
  float min_score = 0;
  {
    const MutexLock lock(mutex_);
    if (next_slot_ >= num_slots_) return false;
    first = next_slot_;
    next_slot_ += options_.piece_slots;
    min_score = best_.least_score();
    ++num_at_work_;
  }
  TopDocuments best(options_.top_k, min_score);
  ScanCatalog(snapshot_, query_, first, first + options_.piece_slots, best);
  const MutexLock lock(mutex_);
  for (const CatalogHit& hit : best.Take(snapshot_)) best_.Add(snapshot_, hit);
  if (--num_at_work_ == 0) idle_.NotifyAll();
  return true;
}

bool SharedScan::is_all_taken() const {
  const MutexLock lock(mutex_);
  return next_slot_ >= num_slots_;
}

void SharedScan::Stop() {
  const MutexLock lock(mutex_);
  next_slot_ = num_slots_;
  while (num_at_work_ > 0) idle_.Wait(mutex_);
}

std::vector<CatalogHit> SharedScan::TakeHits() {
  const MutexLock lock(mutex_);
  return best_.Take(snapshot_);
}

}  // namespace semrank
