#include "server/catalog/catalog_slots.h"

namespace semrank {

CatalogSlots::CatalogSlots()
    : chunks_(std::make_unique<std::unique_ptr<Chunk>[]>(kMaxChunks)) {}

CatalogSlots::~CatalogSlots() {
  for (std::uint32_t slot = 0; slot < num_slots(); ++slot) Clear(slot);
}

void CatalogSlots::AddChunk() {
  auto chunk = std::make_unique<Chunk>();
  for (auto& born : chunk->born) born.store(kNever, std::memory_order_relaxed);
  for (auto& died : chunk->died) died.store(0, std::memory_order_relaxed);
  for (auto& since : chunk->whole_since) {
    since.store(kNever, std::memory_order_relaxed);
  }
  chunks_[num_chunks_++] = std::move(chunk);
}

void CatalogSlots::Begin(std::uint32_t slot, CommitNumber commit,
                         CatalogRecord::Pointer record) {
  Chunk& chunk = ChunkOf(slot);
  const std::uint32_t i = slot % kChunkSlots;
  chunk.born[i].store(commit, std::memory_order_relaxed);
  chunk.records[i] = record.release();
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
  chunk.whole_since[block].store(kNever, std::memory_order_release);
  chunk.died[i].store(commit, std::memory_order_release);
}

void CatalogSlots::Clear(std::uint32_t slot) {
  const CatalogRecord*& record = ChunkOf(slot).records[slot % kChunkSlots];
  CatalogRecord::Deleter()(record);
  record = nullptr;
}

}  // namespace semrank
