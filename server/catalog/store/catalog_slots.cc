#include "server/catalog/store/catalog_slots.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_format.h"

namespace semrank {
namespace {

constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;
constexpr std::size_t kCacheLineBytes = 64;

// Null without memory. Scanning costs a TLB miss every few vectors on 4 KiB
// pages, so huge ones are asked for; a refusal is no error.
std::byte* Allocate(std::size_t num_bytes) {
  const bool huge = num_bytes >= kHugePageBytes;
  const std::size_t alignment = huge ? kHugePageBytes : kCacheLineBytes;
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, num_bytes) != 0) return nullptr;
  if (huge) madvise(memory, num_bytes, MADV_HUGEPAGE);
  return static_cast<std::byte*>(memory);
}

}  // namespace

CatalogSlots::CatalogSlots()
    : chunks_(std::make_unique<std::unique_ptr<Chunk>[]>(kMaxChunks)) {}

CatalogSlots::~CatalogSlots() {
  for (std::uint32_t slot = 0; slot < num_slots(); ++slot) Clear(slot);
}

void CatalogSlots::AddChunk() {
  auto chunk = std::make_unique<Chunk>();
  // Born never, died before the first commit: no reader sees an empty slot.
  for (auto& born : chunk->born) born.store(kNever, std::memory_order_relaxed);
  for (auto& died : chunk->died) died.store(0, std::memory_order_relaxed);
  for (auto& since : chunk->whole_since) {
    since.store(kNever, std::memory_order_relaxed);
  }
  chunks_[num_chunks_++] = std::move(chunk);
}

// Of slot i of the chunk, before it is seen.
void CatalogSlots::SetNumber(Chunk& chunk, std::uint32_t i,
                             const CatalogRecord& record) {
  const DocumentKeyView key = record.key();
  const auto* const number = std::get_if<std::uint64_t>(&key);
  std::uint64_t* numbers = chunk.numbers.load(std::memory_order_relaxed);
  if (numbers == nullptr) {
    if (number == nullptr) return;
    numbers = new std::uint64_t[kChunkSlots]();
    // Readers of other slots must find zeros there.
    chunk.numbers.store(numbers, std::memory_order_release);
    ++num_numbered_chunks_;
  }
  numbers[i] = number == nullptr ? kNoNumber : *number;
}

void CatalogSlots::Begin(std::uint32_t slot, CommitNumber commit,
                         Document document) {
  Chunk& chunk = ChunkOf(slot);
  const std::uint32_t i = slot % kChunkSlots;
  chunk.born[i].store(commit, std::memory_order_relaxed);
  SetNumber(chunk, i, *document.record);
  chunk.records[i] = document.record.release();
  chunk.tag_sets[i] = document.tag_set;
  chunk.names[i] = document.names;
  // Last, with release: a reader that sees this value sees all of the above.
  chunk.died[i].store(kNever, std::memory_order_release);
  const std::uint32_t block = i / kBlockSlots;
  if (++chunk.num_live[block] == kBlockSlots) {
    chunk.whole_since[block].store(commit, std::memory_order_release);
  }
}

void CatalogSlots::End(std::uint32_t slot, CommitNumber commit) {
  Chunk& chunk = ChunkOf(slot);
  const std::uint32_t i = slot % kChunkSlots;
  const std::uint32_t block = i / kBlockSlots;
  --chunk.num_live[block];
  // Before `died`, so that no reader takes the whole block for granted when
  // this slot has left.
  chunk.whole_since[block].store(kNever, std::memory_order_release);
  chunk.died[i].store(commit, std::memory_order_release);
}

void CatalogSlots::Clear(std::uint32_t slot) {
  const CatalogRecord*& record = ChunkOf(slot).records[slot % kChunkSlots];
  CatalogRecord::Deleter()(record);
  record = nullptr;
}

CatalogVectors::CatalogVectors(std::uint32_t model_number, RowFormat format)
    : model_number_(model_number),
      format_(format),
      chunks_(std::make_unique<Chunk[]>(kMaxChunks)) {}

absl::Status CatalogVectors::Reserve(std::size_t num_slots) {
  if (format_.dim == 0) return absl::OkStatus();  // there are no rows
  while (num_chunks_ * kChunkSlots < num_slots) {
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
  // Without dimensions there is no row.
  if (format_.dim == 0) return;
  // row() is const for readers; the writer may change the rows that none of
  // them sees.
  EncodeRow(vector, format_, const_cast<std::byte*>(row(slot)));
  if (!has_codes()) return;
  *const_cast<RowScale*>(scales(slot)) =
      QuantizeRow({vector, static_cast<std::size_t>(format_.dim)},
                  const_cast<std::uint8_t*>(codes(slot)));
}

}  // namespace semrank
