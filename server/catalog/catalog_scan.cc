#include "server/catalog/catalog_scan.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "model/nn/cosine_scorer.h"
#include "model/nn/kernels.h"
#include "model/nn/row_bounds.h"

namespace semrank {
namespace {

// A scan reads 64 slots at a time. Reading is what it costs, so it first reads
// the 8-bit copies, a quarter of the bytes, which bound each score from above.
// Where no bound reaches the worst of the best hits so far, the block is done.
// Otherwise the few documents that may have a place are scored in float32, or
// all of them if they are many. Results are those of a float32 scan, to the bit
// (DESIGN.md, "Search").

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

constexpr std::uint32_t kBlock = CatalogSlots::kBlockSlots;

// With more documents of a block that may have a place all are scored, one row
// after the other.
constexpr std::size_t kMaxScoredSingly = 8;

// The documents of one block and their scores, or bounds of them.
struct Block {
  std::array<std::uint32_t, kBlock> slots;
  std::array<float, kBlock> scores;
  // With a lexical part: its cosines, and where a block is not exact they are
  // part of the bounds too.
  std::array<float, kBlock> lexical;
  std::size_t size = 0;
  bool whole = false;  // every slot is seen, so that all may be read
  bool exact = true;   // else no score is above what is in `scores`
};

// The slots from `first` on that are to be scored.
void AddSlots(const DocumentCatalog::Snapshot& snapshot, const ScanQuery& query,
              std::uint32_t first, Block& block) {
  block.whole = snapshot.IsWholeBlockSeen(first / kBlock);
  if (block.whole && query.filter == nullptr) {
    std::iota(block.slots.begin(), block.slots.end(), first);
    block.size = kBlock;
    return;
  }
  const auto last = static_cast<std::uint32_t>(
      std::min<std::size_t>(first + kBlock, snapshot.num_slots()));
  block.size = 0;
  for (std::uint32_t slot = first; slot < last; ++slot) {
    if (!block.whole && !snapshot.IsSeen(slot)) continue;
    if (query.filter != nullptr && !query.filter->Keeps(slot)) continue;
    block.slots[block.size++] = slot;
  }
}

// A block with gaps: slots that are not seen are not read, since the writer may
// be filling them.
void ScoreSlots(const DocumentCatalog::Snapshot& snapshot,
                const ScanQuery& query, Block& block) {
  std::array<const std::byte*, kBlock> rows;
  for (std::size_t i = 0; i < block.size; ++i) {
    rows[i] = snapshot.row(block.slots[i]);
  }
  ScoreDocuments(query.row, std::span(rows).first(block.size),
                 snapshot.row_format(),
                 std::span(block.scores).first(block.size));
}

// Scores block after block. The vectors of a block are first compared by their
// 8-bit copies, which bound the scores; Exact scores what may have a place.
class BlockScorer {
 public:
  BlockScorer(const DocumentCatalog::Snapshot& snapshot, const ScanQuery& query)
      : snapshot_(snapshot),
        query_(query),
        model_(*snapshot.model()->model),
        rows_(snapshot.sparse_rows()),
        has_dense_(model_.embedding_dim() > 0 &&
                   query.parts != Parts::kLexical),
        has_bounds_(has_dense_ && snapshot.has_codes() &&
                    query.words == nullptr) {
    if (has_bounds_) bound_query_.Prepare(Row());
  }

  // Documents below `least` have no place, unless for their names.
  void Score(Block& block, float least) {
    // Until top_k hits are found every document has a place, and bounds are in
    // vain.
    block.exact = !has_bounds_ || least == kAnyScore;
    if (block.exact) {
      ScoreVectors(block);
    } else {
      BoundVectors(block);
    }
    if (query_.lexical != nullptr) {
      FindLexical(block);
      AddLexical(block);
    }
    if (query_.words != nullptr) AddWords(block);
    if (block.exact || NumAtLeast(block, least) <= kMaxScoredSingly) return;
    block.exact = true;
    ScoreVectors(block);
    if (query_.lexical != nullptr) AddLexical(block);
  }

  // The score of document i of the block.
  float Exact(const Block& block, std::size_t i) const {
    if (block.exact) return block.scores[i];
    const std::byte* const row = snapshot_.row(block.slots[i]);
    float dense = 0;
    ScoreNearDocuments(query_.row, {&row, 1}, snapshot_.row_format(),
                       {&dense, 1});
    return query_.lexical == nullptr ? dense : Combine(dense, block.lexical[i]);
  }

 private:
  static constexpr float kAnyScore = -std::numeric_limits<float>::infinity();

  // A bound that is NaN bounds nothing.
  static std::size_t NumAtLeast(const Block& block, float least) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < block.size; ++i) {
      count += block.scores[i] < least ? 0 : 1;
    }
    return count;
  }

  std::span<const float> Row() const {
    return {query_.row, static_cast<std::size_t>(model_.embedding_dim())};
  }

  void ScoreVectors(Block& block) {
    if (!has_dense_) {
      block.scores.fill(0);
    } else if (block.size == kBlock) {
      ScoreFarMatrix(query_.row, snapshot_.row(block.slots[0]),
                     snapshot_.row_format(), block.scores);
    } else {
      ScoreSlots(snapshot_, query_, block);
    }
  }

  void BoundVectors(Block& block) const {
    if (!block.whole) {
      for (std::size_t i = 0; i < block.size; ++i) {
        const std::uint32_t slot = block.slots[i];
        bound_query_.Bound(snapshot_.codes(slot), snapshot_.scales(slot),
                           {&block.scores[i], 1});
      }
      return;
    }
    const std::uint32_t first = block.slots[0] / kBlock * kBlock;
    bound_query_.Bound(snapshot_.codes(first), snapshot_.scales(first),
                       block.scores);
    // What a filter leaves out was bounded too.
    for (std::size_t i = 0; i < block.size; ++i) {
      block.scores[i] = block.scores[block.slots[i] - first];
    }
  }

  float Combine(float dense, float lexical) const {
    return model_.lexical()->Combine(query_.parts, dense, lexical);
  }

  void FindLexical(Block& block) {
    const std::uint32_t chunk = block.slots[0] / SparseRows::kChunkSlots;
    if (chunk_ != chunk) {
      rows_->SumProducts(chunk, query_.lexical->entries(), sums_);
      chunk_ = chunk;
    }
    for (std::size_t i = 0; i < block.size; ++i) {
      block.lexical[i] = LexicalCosineOf(block.slots[i]);
    }
  }

  // Combine rises with the dense score, in float32 too, so that bounds stay
  // bounds.
  void AddLexical(Block& block) const {
    for (std::size_t i = 0; i < block.size; ++i) {
      block.scores[i] = Combine(block.scores[i], block.lexical[i]);
    }
  }

  float LexicalCosineOf(std::uint32_t slot) {
    const std::uint32_t place = slot % SparseRows::kChunkSlots;
    if (!sums_.IsWaiting(place)) return LexicalCosine(sums_.sums[place]);
    entries_.Clear();
    rows_->AppendTo(slot, entries_);
    return query_.lexical->Cosine(entries_[0]);
  }

  void AddWords(Block& block) {
    words_.Clear();
    for (std::size_t i = 0; i < block.size; ++i) {
      rows_->AppendTo(block.slots[i], words_);
      block.scores[i] += query_.words->Score(words_, static_cast<int>(i));
    }
  }

  const DocumentCatalog::Snapshot& snapshot_;
  const ScanQuery& query_;
  const TwoTowerModel& model_;
  const SparseRows* const rows_;
  const bool has_dense_;
  const bool has_bounds_;
  BoundQuery bound_query_;
  std::uint32_t chunk_ = ~std::uint32_t{0};  // of sums_
  SparseRows::ChunkSums sums_;
  LexicalBatch entries_;
  BagBatch words_;
};

bool MayHavePlace(const DocumentCatalog::Snapshot& snapshot,
                  const ScanQuery& query, const Block& block, float least) {
  bool any = false;
  for (std::size_t i = 0; i < block.size; ++i) {
    any |= !(block.scores[i] < least);
  }
  if (query.name == nullptr || any) return any;
  if (block.size < kBlock) {
    for (std::size_t i = 0; i < block.size; ++i) {
      any |= query.name->MayName(*snapshot.names(block.slots[i]));
    }
    return any;
  }
  const NameKeys* const names = snapshot.names(block.slots[0]);
  for (std::uint32_t i = 0; i < kBlock; ++i)
    any |= query.name->MayName(names[i]);
  return any;
}

void AddToBest(const DocumentCatalog::Snapshot& snapshot,
               const ScanQuery& query, const BlockScorer& scorer,
               const Block& block, TopDocuments& best) {
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
    const bool lifted = hit.name != NameMatch::kNone;
    if (!lifted && block.scores[i] < best.least_score()) continue;
    if (query.excluded_slots.contains(hit.slot)) continue;
    hit.score = scorer.Exact(block, i);
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

SlotFilter::SlotFilter(const DocumentCatalog::Snapshot* snapshot,
                       const TagFilter* filter)
    : snapshot_(*snapshot),
      filter_(*filter),
      verdicts_(
          std::make_unique<std::atomic<Verdict>[]>(snapshot->num_tag_sets())) {}

bool SlotFilter::Keeps(std::uint32_t slot) const {
  std::atomic<Verdict>& verdict = verdicts_[snapshot_.tag_set(slot)];
  const Verdict known = verdict.load(std::memory_order_relaxed);
  if (known != kUnknown) return known == kKept;
  const bool keeps = filter_.Keeps(snapshot_.record(slot).packed_tags());
  verdict.store(keeps ? kKept : kLeftOut, std::memory_order_relaxed);
  return keeps;
}

std::size_t ScanCatalog(const DocumentCatalog::Snapshot& snapshot,
                        const ScanQuery& query, std::size_t first,
                        std::size_t last, TopDocuments& best) {
  if (snapshot.model() == nullptr) return 0;
  BlockScorer scorer(snapshot, query);
  Block block;
  std::size_t num_scored = 0;
  const std::size_t end = std::min(last, snapshot.num_slots());
  for (std::size_t slot = first; slot < end; slot += kBlock) {
    AddSlots(snapshot, query, static_cast<std::uint32_t>(slot), block);
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
