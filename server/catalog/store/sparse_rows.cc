#include "server/catalog/store/sparse_rows.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace semrank {
namespace {

// A pending row costs a search 40 ns, an indexed one 1. A new segment copies
// the rows of 4,096 slots in 200 us, which is 2 us for each of its pending
// rows.
constexpr std::uint32_t kMaxPendingRows = 128;

// The number of query entries whose postings are looked up together.
constexpr std::size_t kMaxEntriesTogether = 64;

std::size_t BytesOfRow(std::size_t num_units) {
  return (num_units + 1) * sizeof(std::uint32_t) + 16;  // for the allocator
}

static_assert(sizeof(LexicalEntry) == sizeof(std::uint32_t));

}  // namespace

bool SparseRows::HasRows(const TwoTowerModel& model) {
  return model.lexical() != nullptr || model.sparse_scorer() != nullptr;
}

SparseBatch SparseRows::RowsOf(const TwoTowerModel& model,
                               std::span<const std::string_view> titles) {
  SparseBatch batch;
  if (model.lexical() != nullptr) {
    LexicalBatch entries;
    for (const std::string_view title : titles) {
      model.lexical()->AppendText(title, entries);
    }
    batch.offsets = std::move(entries.offsets);
    for (const LexicalEntry& entry : entries.entries) {
      batch.units.push_back(std::bit_cast<std::uint32_t>(entry));
    }
    return batch;
  }
  BagBatch bags;
  model.WeighTexts(titles, bags);
  for (int i = 0; i < bags.num_texts(); ++i) {
    const std::uint32_t first = bags.offsets[i], last = bags.offsets[i + 1];
    // Words and values apart, so that AppendTo copies each at once.
    batch.units.insert(batch.units.end(), bags.indices.begin() + first,
                       bags.indices.begin() + last);
    for (std::uint32_t word = first; word < last; ++word) {
      batch.units.push_back(std::bit_cast<std::uint32_t>(bags.counts[word]));
    }
    batch.offsets.push_back(static_cast<std::uint32_t>(batch.units.size()));
  }
  return batch;
}

SparseRows::SparseRows(const TwoTowerModel& model)
    : has_postings_(model.lexical() != nullptr),
      chunks_(std::make_unique<std::unique_ptr<Chunk>[]>(
          CatalogSlots::kMaxChunks)) {}

SparseRows::~SparseRows() {
  for (std::size_t i = 0; i < num_chunks_; ++i) {
    Chunk& chunk = *chunks_[i];
    delete chunk.segment.load(std::memory_order_relaxed);
    for (std::uint32_t slot = 0; slot < kSlotsPerChunk; ++slot) {
      if (IsPending(chunk, slot)) delete[] chunk.rows[slot];
    }
  }
}

std::span<const std::uint32_t> SparseRows::RowOf(std::uint32_t slot) const {
  const Chunk& chunk = *chunks_[slot / kSlotsPerChunk];
  const std::uint32_t i = slot % kSlotsPerChunk;
  // In this order: a row that is no longer pending is in the segment.
  if (IsPending(chunk, i)) {
    return {chunk.rows[i] + 1, *chunk.rows[i]};
  }
  const Segment* const segment = chunk.segment.load(std::memory_order_acquire);
  return segment == nullptr ? std::span<const std::uint32_t>()
                            : segment->row(i);
}

void SparseRows::AppendTo(std::uint32_t slot, LexicalBatch& batch) const {
  for (const std::uint32_t unit : RowOf(slot)) {
    batch.entries.push_back(std::bit_cast<LexicalEntry>(unit));
  }
  batch.offsets.push_back(static_cast<std::uint32_t>(batch.entries.size()));
}

void SparseRows::AppendTo(std::uint32_t slot, BagBatch& bags) const {
  const std::span<const std::uint32_t> row = RowOf(slot);
  const std::size_t num_words = row.size() / 2;
  bags.indices.insert(bags.indices.end(), row.begin(), row.begin() + num_words);
  for (const std::uint32_t unit : row.subspan(num_words)) {
    bags.counts.push_back(std::bit_cast<float>(unit));
  }
  bags.offsets.push_back(static_cast<std::uint32_t>(bags.indices.size()));
}

void SparseRows::SumProducts(std::uint32_t number,
                             std::span<const LexicalEntry> query,
                             ChunkSums& sums) const {
  const Chunk& chunk = *chunks_[number];
  // The bits must be loaded before the segment, as in RowOf.
  for (std::size_t i = 0; i < sums.pending.size(); ++i) {
    sums.pending[i] = chunk.pending[i].load(std::memory_order_acquire);
  }
  sums.sums.fill(0);
  const Segment* const segment = chunk.segment.load(std::memory_order_acquire);
  if (segment != nullptr) segment->AddProducts(query, sums.sums);
  for (std::size_t i = 0; i < sums.pending.size(); ++i) {
    for (std::uint64_t bits = sums.pending[i]; bits != 0; bits &= bits - 1) {
      sums.sums[i * 64 + std::countr_zero(bits)] = kMaxSum;
    }
  }
}

// Lists may lie anywhere in memory. Each pass prefetches what the next one
// reads, so that misses of the CPU's caches overlap.
void SparseRows::Segment::AddProducts(
    std::span<const LexicalEntry> query,
    std::span<std::uint32_t, kSlotsPerChunk> sums) const {
  std::array<std::optional<std::uint32_t>, kMaxEntriesTogether> lists;
  for (std::size_t first = 0; first < query.size(); first += lists.size()) {
    const auto entries =
        query.subspan(first, std::min(lists.size(), query.size() - first));
    for (const LexicalEntry& entry : entries) {
      const std::uint32_t high = entry.bucket >> 8;
      __builtin_prefetch(buckets.data() + first_buckets[high]);
      __builtin_prefetch(buckets.data() + first_buckets[high + 1]);
    }
    for (std::size_t i = 0; i < entries.size(); ++i) {
      lists[i] = FindList(entries[i].bucket);
      if (lists[i].has_value()) __builtin_prefetch(&begins[*lists[i]]);
    }
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (lists[i].has_value()) PrefetchList(*lists[i]);
    }
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (lists[i].has_value()) AddList(*lists[i], entries[i].value, sums);
    }
  }
}

std::optional<std::uint32_t> SparseRows::Segment::FindList(
    std::uint16_t bucket) const {
  // The upper byte narrows the binary search to the buckets that share it.
  const std::uint32_t high = bucket >> 8;
  const auto begin = buckets.begin();
  const auto last = begin + first_buckets[high + 1];
  const auto found =
      std::lower_bound(begin + first_buckets[high], last, bucket);
  if (found == last || *found != bucket) return std::nullopt;
  return static_cast<std::uint32_t>(found - begin);
}

// Only the first cache lines: after them the CPU prefetches by itself.
void SparseRows::Segment::PrefetchList(std::uint32_t list) const {
  constexpr std::uint32_t kPostingsOfLine = 64 / sizeof(postings[0]);
  const std::uint32_t begin = begins[list];
  const std::uint32_t end =
      std::min(begins[list + 1], begin + 4 * kPostingsOfLine);
  for (std::uint32_t i = begin; i < end; i += kPostingsOfLine) {
    __builtin_prefetch(&postings[i]);
  }
}

void SparseRows::Segment::AddList(
    std::uint32_t list, std::uint32_t value,
    std::span<std::uint32_t, kSlotsPerChunk> sums) const {
  const std::uint32_t begin = begins[list], end = begins[list + 1];
  // A sum is at most about 32,767^2: both texts' values have this norm.
  for (const std::uint32_t posting :
       std::span(postings).subspan(begin, end - begin)) {
    sums[posting >> 16] += value * (posting & 0xffff);
  }
}

// Chunks are allocated for slots, not for rows, so that Set never has to
// allocate one while a commit is in progress.
void SparseRows::Reserve(std::size_t num_slots) {
  while (num_chunks_ * kSlotsPerChunk < num_slots) {
    chunks_[num_chunks_++] = std::make_unique<Chunk>();
    num_bytes_ += sizeof(Chunk);
  }
}

void SparseRows::Set(std::uint32_t slot, std::span<const std::uint32_t> row) {
  Chunk& chunk = *chunks_[slot / kSlotsPerChunk];
  const std::uint32_t i = slot % kSlotsPerChunk;
  if (IsPending(chunk, i)) {
    // The pending row of a document that no reader sees any more.
    num_bytes_ -= BytesOfRow(*chunk.rows[i]);
    delete[] chunk.rows[i];
  } else if (++chunk.num_pending == kMaxPendingRows) {
    full_chunks_.push_back(slot / kSlotsPerChunk);
  }
  auto units = std::make_unique<std::uint32_t[]>(row.size() + 1);
  units[0] = static_cast<std::uint32_t>(row.size());
  std::ranges::copy(row, units.get() + 1);
  num_bytes_ += BytesOfRow(row.size());
  // The pointer before the bit, since a reader that sees the bit reads it.
  chunk.rows[i] = units.release();
  chunk.pending[i / 64].fetch_or(std::uint64_t{1} << (i % 64),
                                 std::memory_order_release);
}

void SparseRows::MakeSegments(
    CommitNumber commit,
    const std::function<bool(std::uint32_t)>& has_document) {
  for (const std::uint32_t chunk : std::exchange(full_chunks_, {})) {
    MakeSegment(chunk, commit, has_document);
  }
}

// A segment is built beside the old one and then published by one store, since
// readers take no lock.
void SparseRows::MakeSegment(
    std::uint32_t number, CommitNumber commit,
    const std::function<bool(std::uint32_t)>& has_document) {
  Chunk& chunk = *chunks_[number];
  auto segment = std::make_unique<Segment>();
  const Segment* const old = chunk.segment.load(std::memory_order_relaxed);
  Retired retired;
  retired.commit = commit;
  // Readers may still use the old segment and the pending rows.
  retired.segment.reset(old);
  for (std::uint32_t i = 0; i < kSlotsPerChunk; ++i) {
    const bool is_pending = IsPending(chunk, i);
    std::span<const std::uint32_t> row;
    // The rows of free slots are dropped, so segments do not grow with each
    // replacement.
    if (is_pending ||
        (old != nullptr && has_document(number * kSlotsPerChunk + i))) {
      row = RowOf(number * kSlotsPerChunk + i);
    }
    segment->units.insert(segment->units.end(), row.begin(), row.end());
    segment->offsets[i + 1] = static_cast<std::uint32_t>(segment->units.size());
    // The pending row is in the new segment from here on.
    if (!is_pending) continue;
    retired.num_bytes += BytesOfRow(row.size());
    retired.rows.emplace_back(const_cast<std::uint32_t*>(chunk.rows[i]));
  }
  segment->units.shrink_to_fit();
  if (has_postings_) segment->MakePostings();
  num_bytes_ += segment->num_bytes();
  if (old != nullptr) retired.num_bytes += old->num_bytes();
  // In this order, because of RowOf.
  chunk.segment.store(segment.release(), std::memory_order_release);
  for (auto& pending : chunk.pending) {
    pending.store(0, std::memory_order_release);
  }
  chunk.num_pending = 0;
  retired_.push_back(std::move(retired));
}

void SparseRows::FreeRetired(CommitNumber oldest_read) {
  while (!retired_.empty() && retired_.front().commit <= oldest_read) {
    num_bytes_ -= retired_.front().num_bytes;
    retired_.pop_front();
  }
}

void SparseRows::Segment::MakePostings() {
  // A counting sort by bucket; within a bucket, slots ascend.
  // places[b] first counts the entries of bucket b, then says where the next
  // posting of the bucket goes.
  std::vector<std::uint32_t> places(kMaxLexicalBuckets);
  for (const std::uint32_t unit : units) {
    ++places[std::bit_cast<LexicalEntry>(unit).bucket];
  }
  std::uint32_t sum = 0;
  for (int bucket = 0; bucket < kMaxLexicalBuckets; ++bucket) {
    if (places[bucket] > 0) {
      buckets.push_back(static_cast<std::uint16_t>(bucket));
      begins.push_back(sum);
      sum += std::exchange(places[bucket], sum);
    }
    first_buckets[bucket / 256 + 1] =
        static_cast<std::uint32_t>(buckets.size());
  }
  begins.push_back(sum);
  buckets.shrink_to_fit();
  begins.shrink_to_fit();
  postings.resize(sum);
  for (std::uint32_t i = 0; i < kSlotsPerChunk; ++i) {
    for (const std::uint32_t unit : row(i)) {
      const auto entry = std::bit_cast<LexicalEntry>(unit);
      postings[places[entry.bucket]++] = i << 16 | entry.value;
    }
  }
}

std::size_t SparseRows::Segment::num_bytes() const {
  return sizeof(*this) + units.capacity() * sizeof(units[0]) +
         buckets.capacity() * sizeof(buckets[0]) +
         begins.capacity() * sizeof(begins[0]) +
         postings.capacity() * sizeof(postings[0]);
}

}  // namespace semrank
