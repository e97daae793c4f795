#include "server/catalog/search/block_scorer.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "model/nn/cosine_scorer.h"

namespace semrank {
namespace {

constexpr float kAnyScore = -std::numeric_limits<float>::infinity();

// If more documents of a block may have a place, all of the block are scored,
// one row after the other.
constexpr std::size_t kMaxScoredSingly = 8;

// A chunk's postings are read once more than this number of its rows would have
// to be: a row costs about 100 ns, the postings of a chunk 10 us.
constexpr std::size_t kMaxRowsOfChunk = 64;

// A sum of products that gives at least this cosine, which has been rounded to
// float32.
std::uint32_t MaxSumOf(float cosine) {
  return static_cast<std::uint32_t>(double{cosine} * SparseRows::kMaxSum *
                                    (1 + 1e-7)) +
         1;
}

// Counts NaN too, since a bound that is NaN bounds nothing.
std::size_t NumAtLeast(const Block& block, float least) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < block.size; ++i) {
    count += block.scores[i] < least ? 0 : 1;
  }
  return count;
}

}  // namespace

BlockScorer::BlockScorer(const ScanQuery& query, TopDocuments best)
    : query_(query),
      input_(query.input()),
      snapshot_(query.snapshot()),
      model_(*snapshot_.model()->model),
      rows_(snapshot_.sparse_rows()),
      best_(std::move(best)) {}

bool BlockScorer::WantsBounds(std::uint32_t first) const {
  // Until `best_` is full every document has a place, so bounds exclude none.
  return query_.dense_bounds() != nullptr && best_.least_score() != kAnyScore &&
         snapshot_.IsWholeBlockVisible(first / Block::kSlots);
}

void BlockScorer::ScoreBlock(std::uint32_t first, const float* dense_bounds,
                             Block& block) {
  // Scorers that share a pass may have snapshots of different sizes.
  if (first >= snapshot_.num_slots()) return;
  AddSlots(first, block);
  if (block.size == 0) return;
  num_scored_ += block.size;
  // For most blocks the bounds alone show that no document has a place.
  if (dense_bounds != nullptr && input_.lexical == nullptr &&
      !IsAnyAtLeast({dense_bounds, Block::kSlots}, best_.least_score()) &&
      !IsAnyNamed(block)) {
    return;
  }
  Score(block, best_.least_score(), dense_bounds);
  AddToBest(block);
}

void BlockScorer::AddSlots(std::uint32_t first, Block& block) const {
  const bool is_whole = snapshot_.IsWholeBlockVisible(first / Block::kSlots);
  if (is_whole && input_.filter == nullptr) {
    std::iota(block.slots.begin(), block.slots.end(), first);
    block.size = Block::kSlots;
    return;
  }
  const auto last = static_cast<std::uint32_t>(
      std::min<std::size_t>(first + Block::kSlots, snapshot_.num_slots()));
  block.size = 0;
  for (std::uint32_t slot = first; slot < last; ++slot) {
    if (!is_whole && !snapshot_.IsVisible(slot)) continue;
    if (input_.filter != nullptr && !input_.filter->Keeps(slot)) continue;
    block.slots[block.size++] = slot;
  }
}

bool BlockScorer::IsAnyNamed(const Block& block) const {
  if (input_.name == nullptr) return false;
  const NameQuery& name = *input_.name;
  bool any = false;
  if (block.size < Block::kSlots) {
    for (std::size_t i = 0; i < block.size; ++i) {
      any |= name.MayName(snapshot_.names(block.slots[i]));
    }
    return any;
  }
  // No branch for each document, so that the compiler can vectorise the loop.
  const auto compare = [&](const NameKey* keys) {
    for (std::uint32_t i = 0; i < Block::kSlots; ++i)
      any |= name.MayMatch(keys[i]);
  };
  const NameKey* const ids = snapshot_.ids(block.slots[0]);
  if (ids != nullptr) compare(ids);
  compare(snapshot_.titles(block.slots[0]));
  return any;
}

void BlockScorer::AddToBest(const Block& block) {
  // One test of the whole block is cheap, and nearly always no document has a
  // place.
  if (!IsAnyAtLeast(std::span(block.scores).first(block.size),
                    best_.least_score()) &&
      !IsAnyNamed(block)) {
    return;
  }
  // A query may begin the titles of the whole catalog. So the cheap tests come
  // first: what the keys leave possible, the bound of the score, and the score.
  // Reading the texts is left to documents that may have a place then.
  for (std::size_t i = 0; i < block.size; ++i) {
    CatalogHit hit = {.slot = block.slots[i]};
    if (input_.name != nullptr) {
      hit.name = input_.name->MaxMatch(snapshot_.names(hit.slot));
    }
    if (block.scores[i] < best_.least_score(hit.name)) continue;
    // Below the worst hit only a better match gives a place, so the texts are
    // cheaper than the score.
    bool is_matched = hit.name == NameMatch::kNone;
    if (!is_matched && best_.IsBelowWorst(block.scores[i])) {
      hit.name = MatchTexts(hit.slot);
      is_matched = true;
    }
    const float least = best_.least_score(hit.name);
    if (block.scores[i] < least) continue;
    if (input_.excluded_slots.contains(hit.slot)) continue;
    const std::optional<float> score = Exact(block, i, least);
    if (!score.has_value()) continue;
    hit.score = *score;
    if (!is_matched) {
      if (!best_.HasPlace(snapshot_, hit)) continue;
      hit.name = MatchTexts(hit.slot);
    }
    best_.Add(snapshot_, hit);
  }
}

NameMatch BlockScorer::MatchTexts(std::uint32_t slot) const {
  return input_.name->Match(snapshot_.names(slot), snapshot_.record(slot));
}

void BlockScorer::Score(Block& block, float least, const float* dense_bounds) {
  // While every document has a place, bounds would exclude none of them.
  block.exact = !query_.has_bounds() || least == kAnyScore;
  if (!block.exact) {
    Bound(block, least, dense_bounds);
    if (NumAtLeast(block, least) <= kMaxScoredSingly) return;
    block.exact = true;
  }
  ScoreVectors(block);
  if (input_.lexical != nullptr) AddLexical(block);
  if (input_.words != nullptr) AddWords(block);
}

std::optional<float> BlockScorer::Exact(const Block& block, std::size_t i,
                                        float least) {
  if (block.exact) return block.scores[i];
  // From here on scores[i] is a bound that reached `least`.
  const std::uint32_t slot = block.slots[i];
  float lexical = 0;
  if (input_.lexical != nullptr) {
    lexical = LexicalCosineOf(slot);
    // Most bounds are too high because of the lexical part, so this saves most
    // of the reads below.
    if (Combine(block.dense[i], lexical) < least) return std::nullopt;
  }
  float dense = 0;
  if (query_.has_dense()) query_.ScoreVectors({&slot, 1}, {&dense, 1});
  return input_.lexical == nullptr ? dense : Combine(dense, lexical);
}

void BlockScorer::ScoreVectors(Block& block) const {
  if (!query_.has_dense()) {
    block.scores.fill(0);
    return;
  }
  // The rows of a whole block are contiguous, and the kernel reads them in
  // order.
  const CatalogVectors& vectors = snapshot_.vectors();
  if (block.size == Block::kSlots && !vectors.is_split()) {
    ScoreFarMatrix(input_.row, vectors.row(block.slots[0]), vectors.format(),
                   block.scores);
    return;
  }
  // Slots that are not visible must not be read: the writer may fill them.
  query_.ScoreVectors(std::span(block.slots).first(block.size),
                      std::span(block.scores).first(block.size));
}

void BlockScorer::Bound(Block& block, float least, const float* dense_bounds) {
  BoundVectors(block, dense_bounds);
  const std::uint32_t chunk = block.slots[0] / SparseRows::kSlotsPerChunk;
  if (input_.lexical != nullptr && sums_chunk_ != chunk) {
    block.sums.fill(SparseRows::kMaxSum);
    Combine(block, 0, block.size);
    // With lexical parts of 1 at most these documents may have a place. If they
    // are few, their rows are cheaper than the postings of the whole chunk.
    if (MayReadRows(chunk, NumAtLeast(block, least))) {
      Tighten(block, least);
      return;
    }
    SumProducts(chunk);
  }
  if (input_.lexical != nullptr) {
    for (std::size_t i = 0; i < block.size; ++i) {
      block.sums[i] = sums_.sums[block.slots[i] % SparseRows::kSlotsPerChunk];
    }
  }
  Combine(block, 0, block.size);
  Tighten(block, least);
}

// Computes the bounds of some scores from those of the parts.
void BlockScorer::Combine(Block& block, std::size_t first,
                          std::size_t count) const {
  const auto dense = std::span(block.dense).subspan(first, count);
  float* const bounds = block.scores.data() + first;
  if (input_.lexical == nullptr) {
    std::ranges::copy(dense, bounds);
    return;
  }
  model_.lexical()->Bound(input_.parts, dense,
                          std::span(block.sums).subspan(first, count), bounds);
}

// Tightens the bounds of documents that may have a place: first by reading
// their pending rows, then by the exact dense parts.
void BlockScorer::Tighten(Block& block, float least) {
  std::array<std::uint8_t, Block::kSlots> places;
  std::array<std::uint32_t, Block::kSlots> slots;
  std::size_t count = 0;
  for (std::size_t i = 0; i < block.size; ++i) {
    if (block.scores[i] < least) continue;
    const std::uint32_t slot = block.slots[i];
    if (IsPending(slot)) {
      block.sums[i] = MaxSumOf(LexicalCosineOf(slot));
      Combine(block, i, 1);
      if (block.scores[i] < least) continue;
    }
    // The kernel below then scores all of them in one call, after their rows
    // were prefetched.
    places[count] = static_cast<std::uint8_t>(i);
    if (query_.has_dense()) snapshot_.vectors().Prefetch(slot);
    slots[count++] = slot;
  }
  if (!query_.has_dense()) return;
  std::array<float, Block::kSlots> scores;
  query_.ScoreVectors(std::span(slots).first(count),
                      std::span(scores).first(count));
  for (std::size_t p = 0; p < count; ++p) {
    block.dense[places[p]] = scores[p];
    Combine(block, places[p], 1);
  }
}

// Whether sums_ has no sum for the slot.
bool BlockScorer::IsPending(std::uint32_t slot) const {
  return input_.lexical != nullptr &&
         sums_chunk_ == slot / SparseRows::kSlotsPerChunk &&
         sums_.IsPending(slot % SparseRows::kSlotsPerChunk);
}

void BlockScorer::SumProducts(std::uint32_t chunk) {
  if (sums_chunk_ == chunk) return;
  rows_->SumProducts(chunk, input_.lexical->entries(), sums_);
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

void BlockScorer::BoundVectors(Block& block, const float* dense_bounds) const {
  if (!query_.has_dense()) {
    block.dense.fill(0);
    return;
  }
  for (std::size_t i = 0; i < block.size; ++i) {
    const std::uint32_t slot = block.slots[i];
    if (dense_bounds != nullptr) {
      block.dense[i] = dense_bounds[slot % Block::kSlots];
    } else {
      query_.dense_bounds()->Bound(
          snapshot_.codes(slot), snapshot_.scales(slot), {&block.dense[i], 1});
    }
  }
}

// Here all documents of the block are scored, for which the postings of their
// chunk are cheaper than their rows.
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
    // The sum is exact, so this equals the cosine of the row itself to the bit.
    return LexicalCosine(sums_.sums[place]);
  }
  entries_.Clear();
  rows_->AppendTo(slot, entries_);
  return input_.lexical->Cosine(entries_[0]);
}

void BlockScorer::AddWords(Block& block) {
  words_.Clear();
  for (std::size_t i = 0; i < block.size; ++i) {
    rows_->AppendTo(block.slots[i], words_);
    block.scores[i] += input_.words->Score(words_, static_cast<int>(i));
  }
}

}  // namespace semrank
