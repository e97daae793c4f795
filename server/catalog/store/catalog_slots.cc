#include "server/catalog/store/catalog_slots.h"

#include <sys/mman.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/nn/cosine_scorer.h"

namespace semrank {
namespace {

constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;
constexpr std::size_t kCacheLineBytes = 64;

// Returns null when there is no memory. On 4 KiB pages a scan has a TLB miss
// every few vectors, so huge pages are requested; it works without them too.
std::byte* Allocate(std::size_t num_bytes) {
  const bool huge = num_bytes >= kHugePageBytes;
  const std::size_t alignment = huge ? kHugePageBytes : kCacheLineBytes;
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, num_bytes) != 0) return nullptr;
  if (huge) madvise(memory, num_bytes, MADV_HUGEPAGE);
  return static_cast<std::byte*>(memory);
}

}  // namespace

// The directory has room for all chunks from the start: readers must never see
// it move.
CatalogSlots::CatalogSlots()
    : chunks_(std::make_unique<std::unique_ptr<Chunk>[]>(kMaxChunks)) {}

CatalogSlots::~CatalogSlots() {
  for (std::uint32_t slot = 0; slot < num_slots(); ++slot) Free(slot);
}

void CatalogSlots::AddChunk() {
  auto chunk = std::make_unique<Chunk>();
  // A free slot is deleted before it is created, so no reader sees it.
  for (std::uint32_t i = 0; i < kSlotsPerChunk; ++i) {
    chunk->created[i].store(kNever, std::memory_order_relaxed);
    chunk->deleted[i].store(0, std::memory_order_relaxed);
  }
  for (auto& since : chunk->current_since) {
    since.store(kNever, std::memory_order_relaxed);
  }
  chunks_[num_chunks_++] = std::move(chunk);
}

void CatalogSlots::Add(std::uint32_t slot, CommitNumber commit,
                       Document document) {
  Chunk& chunk = ChunkOf(slot);
  const std::uint32_t i = slot % kSlotsPerChunk;
  // No reader looks at a free slot, so only the last store needs an order.
  chunk.created[i].store(commit, std::memory_order_relaxed);
  // Numbers are kept apart from records, so that a look-up by number reads 8
  // contiguous bytes in place of a record anywhere in memory.
  const DocumentKeyView key = document.record->key();
  const auto* const number = std::get_if<std::uint64_t>(&key);
  num_value_bytes_ += chunk.numbers.Set(
      i, number == nullptr ? kNoNumber : *number, kSlotsPerChunk);
  num_value_bytes_ += chunk.tag_sets.Set(i, document.tag_set, kSlotsPerChunk);
  num_value_bytes_ += chunk.ids.Set(i, document.names.id, kSlotsPerChunk);
  chunk.titles[i] = document.names.title;
  chunk.records[i] = document.record.release();
  // Last, with release: a reader that loads this value also loads all of the
  // above.
  chunk.deleted[i].store(kNever, std::memory_order_release);
  const std::uint32_t block = i / kBlockSlots;
  // From this commit on readers need not look at each slot of the block.
  if (++chunk.num_current[block] == kBlockSlots) {
    chunk.current_since[block].store(commit, std::memory_order_release);
  }
}

void CatalogSlots::Remove(std::uint32_t slot, CommitNumber commit) {
  Chunk& chunk = ChunkOf(slot);
  const std::uint32_t i = slot % kSlotsPerChunk;
  const std::uint32_t block = i / kBlockSlots;
  --chunk.num_current[block];
  // Before `deleted`: otherwise a reader of this commit could still take the
  // whole block for visible.
  chunk.current_since[block].store(kNever, std::memory_order_release);
  chunk.deleted[i].store(commit, std::memory_order_release);
}

void CatalogSlots::Free(std::uint32_t slot) {
  delete std::exchange(ChunkOf(slot).records[slot % kSlotsPerChunk], nullptr);
}

CatalogVectors::CatalogVectors(std::uint32_t model_number, RowFormat format)
    : model_number_(model_number),
      format_(format),
      chunks_(std::make_unique<Chunk[]>(kMaxChunks)) {}

absl::Status CatalogVectors::Reserve(std::size_t num_slots) {
  if (format_.dim == 0) return absl::OkStatus();
  while (num_chunks_ * kRowsPerChunk < num_slots) {
    Chunk chunk(Allocate(ChunkBytes()));
    if (chunk == nullptr) {
      return absl::ResourceExhaustedError(absl::StrFormat(
          "no memory for %d bytes of catalog vectors", ChunkBytes()));
    }
    chunks_[num_chunks_++] = std::move(chunk);
  }
  num_slots_ = std::max(num_slots_, num_slots);
  return absl::OkStatus();
}

void CatalogVectors::Set(std::uint32_t slot, const float* vector) {
  if (format_.dim == 0) return;
  const std::span elements(vector, static_cast<std::size_t>(format_.dim));
  // row() and the others are const for readers; the writer may change rows that
  // are visible to none of them.
  if (is_split()) {
    const SplitRow row = split_row(slot);
    *const_cast<RowScale*>(row.scale) =
        SplitIntoCodes(elements, const_cast<std::uint8_t*>(row.codes),
                       const_cast<std::uint8_t*>(row.remainders));
    return;
  }
  EncodeRow(vector, format_, const_cast<std::byte*>(row(slot)));
  if (!has_codes()) return;
  *const_cast<RowScale*>(scales(slot)) =
      QuantizeRow(elements, const_cast<std::uint8_t*>(codes(slot)));
}

void CatalogVectors::Score(std::span<const float> query,
                           const BoundQuery& prepared,
                           std::span<const std::uint32_t> slots,
                           std::span<float> scores) const {
  // Thread-local, so that it does not allocate.
  if (is_split()) {
    thread_local std::vector<SplitRow> rows;
    rows.resize(slots.size());
    std::ranges::transform(slots, rows.begin(), [this](std::uint32_t slot) {
      return split_row(slot);
    });
    ScoreSplitRows(prepared, query, rows, scores);
    return;
  }
  thread_local std::vector<const std::byte*> rows;
  rows.resize(slots.size());
  std::ranges::transform(slots, rows.begin(),
                         [this](std::uint32_t slot) { return row(slot); });
  ScoreDocuments(query.data(), rows, format_, scores);
}

void CatalogVectors::Read(std::uint32_t slot, std::span<float> vector) const {
  if (format_.dim == 0) return;
  if (is_split()) return Join(split_row(slot), vector);
  DecodeRow(row(slot), format_, vector.data());
}

void CatalogVectors::Prefetch(std::uint32_t slot) const {
  const auto prefetch = [](const void* memory, std::size_t num_bytes) {
    for (std::size_t i = 0; i < num_bytes; i += kCacheLineBytes) {
      __builtin_prefetch(static_cast<const std::byte*>(memory) + i);
    }
  };
  prefetch(row(slot), RowBytes());
  if (is_split()) prefetch(codes(slot), NumCodeBytes(format_.dim));
}

}  // namespace semrank
