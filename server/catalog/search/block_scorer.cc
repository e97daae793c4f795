#include "server/catalog/search/block_scorer.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "model/nn/cosine_scorer.h"

namespace semrank {
namespace {

constexpr float kAnyScore = -std::numeric_limits<float>::infinity();

// With more documents of a block that may have a place all are scored, one row
// after the other.
constexpr std::size_t kMaxScoredSingly = 8;

// Up to this number of lexical rows of a chunk are read one by one before its
// postings are: a row costs about 100 ns, the postings of a chunk 10 us.
constexpr std::size_t kMaxRowsOfChunk = 64;

// At least the sum of products that gave this cosine, which was rounded to
// float32.
std::uint32_t MaxSumOf(float cosine) {
  return static_cast<std::uint32_t>(double{cosine} * SparseRows::kMaxSum *
                                    (1 + 1e-7)) +
         1;
}

void Prefetch(const std::byte* row, std::size_t num_bytes) {
  constexpr std::size_t kCacheLineBytes = 64;
  for (std::size_t i = 0; i < num_bytes; i += kCacheLineBytes) {
    __builtin_prefetch(row + i);
  }
}

// A bound that is NaN bounds nothing.
std::size_t NumAtLeast(const Block& block, float least) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < block.size; ++i) {
    count += block.scores[i] < least ? 0 : 1;
  }
  return count;
}

}  // namespace

SlotFilter::SlotFilter(const CatalogSnapshot* snapshot, const TagFilter* filter)
    : snapshot_(*snapshot),
      filter_(*filter),
      verdicts_(
          std::make_unique<std::atomic<Verdict>[]>(snapshot->num_tag_sets())) {}

bool SlotFilter::Keeps(std::uint32_t slot) const {
  std::atomic<Verdict>& verdict = verdicts_[snapshot_.tag_set(slot)];
  const Verdict known = verdict.load(std::memory_order_relaxed);
  if (known != kUnknown) return known == kKept;
  const bool keeps = filter_.Keeps(snapshot_.record(slot).packed_tags());
  // Relaxed: nothing else is published by it, and threads that race store the
  // same.
  verdict.store(keeps ? kKept : kLeftOut, std::memory_order_relaxed);
  return keeps;
}

PreparedScan::PreparedScan(const CatalogSnapshot* snapshot,
                           const ScanQuery* query)
    : snapshot_(*snapshot), query_(*query) {
  if (snapshot_.model() == nullptr) return;
  const int dim = snapshot_.model()->model->embedding_dim();
  has_dense_ = dim > 0 && query_.parts != Parts::kLexical;
  // SSI's words have no bound, so with them every document is scored.
  has_bounds_ =
      (has_dense_ ? snapshot_.has_codes() : query_.lexical != nullptr) &&
      query_.words == nullptr;
  if (!has_dense_ || !has_bounds_) return;
  dense_bounds_.Prepare({query_.row, static_cast<std::size_t>(dim)});
}

BlockScorer::BlockScorer(const PreparedScan& scan)
    : scan_(scan),
      snapshot_(scan.snapshot()),
      query_(scan.query()),
      model_(*snapshot_.model()->model),
      rows_(snapshot_.sparse_rows()) {}

void BlockScorer::AddSlots(std::uint32_t first, Block& block) const {
  block.whole = snapshot_.IsWholeBlockVisible(first / Block::kSlots);
  if (block.whole && query_.filter == nullptr) {
    std::iota(block.slots.begin(), block.slots.end(), first);
    block.size = Block::kSlots;
    return;
  }
  const auto last = static_cast<std::uint32_t>(
      std::min<std::size_t>(first + Block::kSlots, snapshot_.num_slots()));
  block.size = 0;
  for (std::uint32_t slot = first; slot < last; ++slot) {
    if (!block.whole && !snapshot_.IsVisible(slot)) continue;
    if (query_.filter != nullptr && !query_.filter->Keeps(slot)) continue;
    block.slots[block.size++] = slot;
  }
}

// Until top_k hits are found every document has a place, and bounds are in
// vain.
bool BlockScorer::WantsBounds(std::uint32_t first, float least) const {
  return scan_.dense_bounds() != nullptr && least != kAnyScore &&
         snapshot_.IsWholeBlockVisible(first / Block::kSlots);
}

void BlockScorer::Score(Block& block, float least, const float* dense_bounds) {
  block.exact = !scan_.has_bounds() || least == kAnyScore;
  if (!block.exact) {
    Bound(block, least, dense_bounds);
    if (NumAtLeast(block, least) <= kMaxScoredSingly) return;
    block.exact = true;
  }
  ScoreVectors(block);
  if (query_.lexical != nullptr) AddLexical(block);
  if (query_.words != nullptr) AddWords(block);
}

std::optional<float> BlockScorer::Exact(const Block& block, std::size_t i,
                                        float least) {
  if (block.exact) return block.scores[i];
  const std::uint32_t slot = block.slots[i];
  float lexical = 0;
  if (query_.lexical != nullptr) {
    lexical = LexicalCosineOf(slot);
    // Most bounds that were too high were so for the lexical part.
    if (Combine(block.dense[i], lexical) < least) return std::nullopt;
  }
  float dense = 0;
  if (scan_.has_dense()) {
    const std::byte* const row = snapshot_.row(slot);
    ScoreNearDocuments(query_.row, {&row, 1}, snapshot_.row_format(),
                       {&dense, 1});
  }
  return query_.lexical == nullptr ? dense : Combine(dense, lexical);
}

void BlockScorer::ScoreVectors(Block& block) const {
  if (!scan_.has_dense()) {
    block.scores.fill(0);
    // The rows of a whole block lie in one piece, which the kernel reads in
    // order.
  } else if (block.size == Block::kSlots) {
    ScoreFarMatrix(query_.row, snapshot_.row(block.slots[0]),
                   snapshot_.row_format(), block.scores);
  } else {
    ScoreSlots(block);
  }
}

// A block with gaps: slots that are not seen are not read, since the writer may
// be filling them.
void BlockScorer::ScoreSlots(Block& block) const {
  std::array<const std::byte*, Block::kSlots> rows;
  for (std::size_t i = 0; i < block.size; ++i) {
    rows[i] = snapshot_.row(block.slots[i]);
  }
  ScoreDocuments(query_.row, std::span(rows).first(block.size),
                 snapshot_.row_format(),
                 std::span(block.scores).first(block.size));
}

void BlockScorer::Bound(Block& block, float least, const float* dense_bounds) {
  BoundVectors(block, dense_bounds);
  const std::uint32_t chunk = block.slots[0] / SparseRows::kSlotsPerChunk;
  if (query_.lexical != nullptr && sums_chunk_ != chunk) {
    block.sums.fill(SparseRows::kMaxSum);
    Combine(block, 0, block.size);
    if (MayReadRows(chunk, NumAtLeast(block, least))) {
      Tighten(block, least);
      return;
    }
    SumProducts(chunk);
  }
  if (query_.lexical != nullptr) {
    for (std::size_t i = 0; i < block.size; ++i) {
      block.sums[i] = sums_.sums[block.slots[i] % SparseRows::kSlotsPerChunk];
    }
  }
  Combine(block, 0, block.size);
  Tighten(block, least);
}

// Bounds of the scores from those of the dense parts, of some documents.
void BlockScorer::Combine(Block& block, std::size_t first,
                          std::size_t count) const {
  const auto dense = std::span(block.dense).subspan(first, count);
  float* const bounds = block.scores.data() + first;
  if (query_.lexical == nullptr) {
    std::ranges::copy(dense, bounds);
    return;
  }
  model_.lexical()->Bound(query_.parts, dense,
                          std::span(block.sums).subspan(first, count), bounds);
}

// Bounds more closely what may have a place: by the rows that wait, then by the
// exact dense parts.
void BlockScorer::Tighten(Block& block, float least) {
  std::array<std::uint8_t, Block::kSlots> places;
  std::array<const std::byte*, Block::kSlots> rows;
  std::size_t count = 0;
  for (std::size_t i = 0; i < block.size; ++i) {
    if (block.scores[i] < least) continue;
    const std::uint32_t slot = block.slots[i];
    if (IsPending(slot)) {
      block.sums[i] = MaxSumOf(LexicalCosineOf(slot));
      Combine(block, i, 1);
      if (block.scores[i] < least) continue;
    }
    places[count] = static_cast<std::uint8_t>(i);
    if (scan_.has_dense()) {
      rows[count] = snapshot_.row(slot);
      Prefetch(rows[count], snapshot_.row_format().num_bytes());
    }
    ++count;
  }
  if (!scan_.has_dense()) return;
  std::array<float, Block::kSlots> scores;
  ScoreNearDocuments(query_.row, std::span(rows).first(count),
                     snapshot_.row_format(), std::span(scores).first(count));
  for (std::size_t p = 0; p < count; ++p) {
    block.dense[places[p]] = scores[p];
    Combine(block, places[p], 1);
  }
}

// Whether the sums do not have the document.
bool BlockScorer::IsPending(std::uint32_t slot) const {
  return query_.lexical != nullptr &&
         sums_chunk_ == slot / SparseRows::kSlotsPerChunk &&
         sums_.IsPending(slot % SparseRows::kSlotsPerChunk);
}

void BlockScorer::SumProducts(std::uint32_t chunk) {
  if (sums_chunk_ == chunk) return;
  rows_->SumProducts(chunk, query_.lexical->entries(), sums_);
  sums_chunk_ = chunk;
}

// Whether to read `num_rows` more rows of the chunk rather than its postings.
bool BlockScorer::MayReadRows(std::uint32_t chunk, std::size_t num_rows) {
  if (num_rows > kMaxScoredSingly) return false;
  if (rows_chunk_ != chunk) num_rows_ = 0;
  rows_chunk_ = chunk;
  num_rows_ += num_rows;
  return num_rows_ <= kMaxRowsOfChunk;
}

// Fills in block.dense.
void BlockScorer::BoundVectors(Block& block, const float* dense_bounds) const {
  if (!scan_.has_dense()) {
    block.dense.fill(0);
    return;
  }
  for (std::size_t i = 0; i < block.size; ++i) {
    const std::uint32_t slot = block.slots[i];
    if (dense_bounds != nullptr) {
      block.dense[i] = dense_bounds[slot % Block::kSlots];
    } else {
      scan_.dense_bounds()->Bound(snapshot_.codes(slot), snapshot_.scales(slot),
                                  {&block.dense[i], 1});
    }
  }
}

// All documents of the block are to be scored: the postings of their chunk are
// then cheaper than their rows.
void BlockScorer::AddLexical(Block& block) {
  SumProducts(block.slots[0] / SparseRows::kSlotsPerChunk);
  for (std::size_t i = 0; i < block.size; ++i) {
    block.scores[i] = Combine(block.scores[i], LexicalCosineOf(block.slots[i]));
  }
}

float BlockScorer::LexicalCosineOf(std::uint32_t slot) {
  const std::uint32_t place = slot % SparseRows::kSlotsPerChunk;
  if (sums_chunk_ == slot / SparseRows::kSlotsPerChunk &&
      !sums_.IsPending(place)) {
    // The sum is exact, so this is what the row itself would give, to the bit.
    return LexicalCosine(sums_.sums[place]);
  }
  entries_.Clear();
  rows_->AppendTo(slot, entries_);
  return query_.lexical->Cosine(entries_[0]);
}

// After the vectors: the score of SSI is the sum of both.
void BlockScorer::AddWords(Block& block) {
  words_.Clear();
  for (std::size_t i = 0; i < block.size; ++i) {
    rows_->AppendTo(block.slots[i], words_);
    block.scores[i] += query_.words->Score(words_, static_cast<int>(i));
  }
}

}  // namespace semrank
