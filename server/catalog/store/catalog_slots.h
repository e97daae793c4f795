// Which document lies in which slot of the catalog, and from when until when.
//
// Every change of the catalog is a commit with a number. A slot carries the
// commit with which its document appeared (born) and the one with which it left
// (died); a reader as of commit C sees the slots with born <= C < died. A
// document that is replaced gets a new slot, so what a reader sees never
// changes under it. The slot of one that has left is used again once no reader
// is left who may see it (DocumentCatalog knows).
//
//   Memory   46 bytes a slot, 8 more in chunks with documents that are known
//            by number; chunks never move.
//   Threads  one writer; readers look only at slots that existed at their
//            commit, and at a record only if they see its slot.
#ifndef SEMRANK_SERVER_CATALOG_STORE_CATALOG_SLOTS_H_
#define SEMRANK_SERVER_CATALOG_STORE_CATALOG_SLOTS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <variant>

#include "absl/status/status.h"
#include "model/nn/row_bounds.h"
#include "model/nn/row_format.h"
#include "server/catalog/store/catalog_names.h"
#include "server/catalog/store/catalog_record.h"

namespace semrank {

using CommitNumber = std::uint64_t;

class CatalogSlots {
 public:
  static constexpr std::uint32_t kChunkSlots = 4'096;
  static constexpr std::size_t kMaxChunks = 32'768;
  static constexpr std::size_t kMaxSlots = kMaxChunks * kChunkSlots;
  // Slots that are scanned together.
  static constexpr std::uint32_t kBlockSlots = 64;

  CatalogSlots();
  ~CatalogSlots();

  bool IsSeen(std::uint32_t slot, CommitNumber commit) const {
    // Nearly always, and the commits of blocks are few enough to stay in the L1
    // cache, which those of slots are not.
    if (IsWholeBlockSeen(slot / kBlockSlots, commit)) return true;
    const Chunk& chunk = ChunkOf(slot);
    const std::uint32_t i = slot % kChunkSlots;
    // In this order: the writer sets `born` first when it uses a slot again,
    // so with a new `died` the new `born` is seen too.
    return commit < chunk.died[i].load(std::memory_order_acquire) &&
           chunk.born[i].load(std::memory_order_relaxed) <= commit;
  }
  // For HasKey to come, and for IsSeen where the block does not decide.
  void Prefetch(std::uint32_t slot, CommitNumber commit) const {
    const Chunk& chunk = ChunkOf(slot);
    const std::uint32_t i = slot % kChunkSlots;
    const auto* const numbers = chunk.numbers.load(std::memory_order_acquire);
    if (numbers != nullptr) __builtin_prefetch(&numbers[i]);
    if (IsWholeBlockSeen(slot / kBlockSlots, commit)) return;
    __builtin_prefetch(&chunk.born[i]);
    __builtin_prefetch(&chunk.died[i]);
  }
  // True only if every slot of the block is seen, and then cheaper than to ask
  // for each.
  bool IsWholeBlockSeen(std::uint32_t block, CommitNumber commit) const {
    const Chunk& chunk = ChunkOf(block * kBlockSlots);
    return chunk.whole_since[block % kChunkBlocks].load(
               std::memory_order_acquire) <= commit;
  }
  const CatalogRecord& record(std::uint32_t slot) const {
    return *ChunkOf(slot).records[slot % kChunkSlots];
  }

  // Whether the document has this key, of a slot that is seen.
  bool HasKey(std::uint32_t slot, const DocumentKeyView& key) const {
    return std::visit([&](auto one) { return HasKey(slot, one); }, key);
  }
  bool HasKey(std::uint32_t slot, std::uint64_t number) const {
    if (NeedsRecord(number)) return HasKeyInRecord(slot, number);
    const auto* const numbers =
        ChunkOf(slot).numbers.load(std::memory_order_acquire);
    return numbers != nullptr && numbers[slot % kChunkSlots] == number;
  }
  bool HasKey(std::uint32_t slot, std::string_view name) const {
    return HasKeyInRecord(slot, name);
  }
  // Whether HasKey reads the record.
  static bool NeedsRecord(std::uint64_t number) { return number == kNoNumber; }
  static bool NeedsRecord(std::string_view /*name*/) { return true; }

  // The number of the document's tags (TagSets), of a slot that is seen.
  std::uint32_t tag_set(std::uint32_t slot) const {
    return ChunkOf(slot).tag_sets[slot % kChunkSlots];
  }
  // Those of the slots that follow in its chunk lie behind it.
  const NameKeys* names(std::uint32_t slot) const {
    return &ChunkOf(slot).names[slot % kChunkSlots];
  }

  // Of a slot that is seen, or for the writer.
  CommitNumber born(std::uint32_t slot) const {
    return ChunkOf(slot).born[slot % kChunkSlots].load(
        std::memory_order_relaxed);
  }

  // For the writer. A document is live from Begin to End.
  bool IsLive(std::uint32_t slot) const {
    return ChunkOf(slot).died[slot % kChunkSlots].load(
               std::memory_order_relaxed) == kNever;
  }
  // Whether its document, of which there must be a record, appeared or left
  // after `commit`.
  bool HasChanged(std::uint32_t slot, CommitNumber commit) const {
    const CommitNumber died =
        ChunkOf(slot).died[slot % kChunkSlots].load(std::memory_order_relaxed);
    return born(slot) > commit || (died != kNever && died > commit);
  }
  bool HasRecord(std::uint32_t slot) const {
    return ChunkOf(slot).records[slot % kChunkSlots] != nullptr;
  }
  void AddChunk();
  struct Document {
    CatalogRecord::Pointer record;
    std::uint32_t tag_set = 0;
    NameKeys names = {};
  };
  void Begin(std::uint32_t slot, CommitNumber commit, Document document);
  void End(std::uint32_t slot, CommitNumber commit);
  // Frees the record of a slot that has ended.
  void Clear(std::uint32_t slot);

  std::size_t num_slots() const { return num_chunks_ * kChunkSlots; }
  std::size_t num_bytes() const {
    return num_chunks_ * sizeof(Chunk) +
           num_numbered_chunks_ * kChunkSlots * sizeof(std::uint64_t);
  }

 private:
  static constexpr CommitNumber kNever = ~CommitNumber{0};
  static constexpr std::uint32_t kChunkBlocks = kChunkSlots / kBlockSlots;
  // Stands for a name, and for itself: of such slots the record has the key.
  static constexpr std::uint64_t kNoNumber = 0;

  struct Chunk {
    ~Chunk() { delete[] numbers.load(std::memory_order_relaxed); }

    std::array<std::atomic<CommitNumber>, kChunkSlots> born;
    std::array<std::atomic<CommitNumber>, kChunkSlots> died;
    // Of kChunkSlots; null until a document of the chunk is known by number.
    std::atomic<std::uint64_t*> numbers = nullptr;
    std::array<const CatalogRecord*, kChunkSlots> records = {};
    std::array<std::uint32_t, kChunkSlots> tag_sets = {};
    std::array<NameKeys, kChunkSlots> names = {};
    // The commit since which all slots of the block are live.
    std::array<std::atomic<CommitNumber>, kChunkBlocks> whole_since;
    std::array<std::uint8_t, kChunkBlocks> num_live = {};
  };

  bool HasKeyInRecord(std::uint32_t slot, const DocumentKeyView& key) const {
    return record(slot).key() == key;
  }
  void SetNumber(Chunk& chunk, std::uint32_t i, const CatalogRecord& record);
  Chunk& ChunkOf(std::uint32_t slot) const {
    return *chunks_[slot / kChunkSlots];
  }

  std::size_t num_chunks_ = 0;
  std::size_t num_numbered_chunks_ = 0;
  // A fixed directory: readers look at it while chunks are added.
  const std::unique_ptr<std::unique_ptr<Chunk>[]> chunks_;
};

// The vectors that one model gave the documents, by slot.
//
//   Shape    row `slot` is one of the model's format (row_format.h), beside a
//            copy of it in 4-bit codes, which are what a search reads
//            (row_bounds.h). Rows, codes and scales of a chunk of 16,384 slots
//            are contiguous, each by themselves; growing copies nothing.
//   Memory   huge pages where the system gives them: at 256 dimensions the
//            codes of a chunk are one of 2 MiB.
//   Owner    shared: a snapshot that uses the vectors keeps them alive.
//   Threads  one writer; readers of rows that the writer does not touch.
class CatalogVectors {
 public:
  // Of the model with this ServedModel::number.
  CatalogVectors(std::uint32_t model_number, RowFormat format);
  CatalogVectors(const CatalogVectors&) = delete;
  CatalogVectors& operator=(const CatalogVectors&) = delete;

  std::uint32_t model_number() const { return model_number_; }
  RowFormat format() const { return format_; }

  // Of `slot`, for whose chunk Reserve has been called.
  const std::byte* row(std::uint32_t slot) const {
    return chunk(slot) + RowsBegin() + slot % kChunkSlots * format_.num_bytes();
  }
  // Rows of more than kMaxBoundDim dimensions have no codes.
  bool has_codes() const {
    return 0 < format_.dim && format_.dim <= kMaxBoundDim;
  }
  const std::uint8_t* codes(std::uint32_t slot) const {
    return reinterpret_cast<const std::uint8_t*>(chunk(slot)) +
           slot % kChunkSlots * NumCodeBytes(format_.dim);
  }
  const RowScale* scales(std::uint32_t slot) const {
    return reinterpret_cast<const RowScale*>(chunk(slot) + ScalesBegin()) +
           slot % kChunkSlots;
  }

  // Room for slots below `num_slots`. ResourceExhausted when the system has no
  // such memory.
  absl::Status Reserve(std::size_t num_slots);
  // `vector` is format().dim rounded floats.
  void Set(std::uint32_t slot, const float* vector);
  // Without the rest of the last chunk, to which the system gives no memory
  // before it is used.
  std::size_t num_bytes() const {
    return num_slots_ * (ChunkBytes() / kChunkSlots);
  }

 private:
  static constexpr std::size_t kChunkSlots = 16'384;
  static constexpr std::size_t kMaxChunks =
      CatalogSlots::kMaxSlots / kChunkSlots;
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  using Chunk = std::unique_ptr<std::byte[], Free>;

  const std::byte* chunk(std::uint32_t slot) const {
    return chunks_[slot / kChunkSlots].get();
  }
  // A chunk is its codes, then its rows, then its scales.
  std::size_t RowsBegin() const {
    return has_codes() ? kChunkSlots * NumCodeBytes(format_.dim) : 0;
  }
  std::size_t ScalesBegin() const {
    return RowsBegin() + kChunkSlots * format_.num_bytes();
  }
  std::size_t ChunkBytes() const {
    return ScalesBegin() + (has_codes() ? kChunkSlots * sizeof(RowScale) : 0);
  }

  const std::uint32_t model_number_;
  const RowFormat format_;
  std::size_t num_slots_ = 0;  // that have been reserved
  std::size_t num_chunks_ = 0;
  // A fixed directory: readers look at it while chunks are added.
  const std::unique_ptr<Chunk[]> chunks_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_STORE_CATALOG_SLOTS_H_
