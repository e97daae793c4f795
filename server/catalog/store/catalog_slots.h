// The documents of the catalog by slot, and the commits as of which each is
// visible.
//
// Every change of the catalog is a commit with a number. A reader as of commit
// C sees the slots with created_commit <= C < deleted_commit, so what it sees
// never changes under it. A slot goes through three states:
//
//   free     It holds no document and is visible as of no commit.
//            Add makes it current.
//   current  It holds the document that its key has now. Readers see it once
//            created_commit is published. Remove makes it removed.
//   removed  Its document was deleted, or replaced by one in another slot.
//            Readers of older commits still see it. Free makes it free, once no
//            such reader is left (DocumentCatalog keeps count).
//
//   Memory   33 bytes a slot; 8 more in chunks with documents known by number,
//            9 more in chunks with documents known by name, and 4 more in
//            chunks with tags. Chunks never move.
//   Threads  one writer; readers read only slots that existed at their commit,
//            and a record only if its slot is visible to them.
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
#include "model/nn/split_rows.h"
#include "server/catalog/store/catalog_names.h"
#include "server/catalog/store/catalog_record.h"

namespace semrank {

using CommitNumber = std::uint64_t;

// Values by slot of a chunk, which one writer sets and others read. Takes no
// memory while all are T().
template <typename T>
class SlotValues {
 public:
  SlotValues() = default;
  ~SlotValues() { delete[] values_.load(std::memory_order_relaxed); }
  SlotValues(const SlotValues&) = delete;
  SlotValues& operator=(const SlotValues&) = delete;

  // Null while all are T().
  const T* data() const { return values_.load(std::memory_order_acquire); }
  T operator[](std::uint32_t i) const {
    const T* const values = data();
    return values == nullptr ? T() : values[i];
  }
  // For the writer. Returns the number of bytes that it has allocated.
  std::size_t Set(std::uint32_t i, const T& value, std::size_t size) {
    T* values = values_.load(std::memory_order_relaxed);
    std::size_t num_bytes = 0;
    if (values == nullptr) {
      if (value == T()) return 0;
      values = new T[size]();
      num_bytes = size * sizeof(T);
      // The release order lets readers of the other slots find T().
      values_.store(values, std::memory_order_release);
    }
    values[i] = value;
    return num_bytes;
  }

 private:
  std::atomic<T*> values_ = nullptr;
};

class CatalogSlots {
 public:
  static constexpr std::uint32_t kSlotsPerChunk = 4'096;
  static constexpr std::size_t kMaxChunks = 32'768;
  static constexpr std::size_t kMaxSlots = kMaxChunks * kSlotsPerChunk;
  // Slots that are scanned together.
  static constexpr std::uint32_t kBlockSlots = 64;

  CatalogSlots();
  ~CatalogSlots();

  bool IsVisible(std::uint32_t slot, CommitNumber commit) const {
    // Nearly always true. The numbers of blocks are few enough to stay in the
    // L1 cache, which those of slots are not.
    if (IsWholeBlockVisible(slot / kBlockSlots, commit)) return true;
    const Chunk& chunk = ChunkOf(slot);
    const std::uint32_t i = slot % kSlotsPerChunk;
    // In this order: Add stores `created` before `deleted`, so a reader of the
    // new `deleted` also reads the new `created`.
    return commit < chunk.deleted[i].load(std::memory_order_acquire) &&
           chunk.created[i].load(std::memory_order_relaxed) <= commit;
  }
  // True only if every slot of the block is visible; cheaper than one IsVisible
  // a slot.
  bool IsWholeBlockVisible(std::uint32_t block, CommitNumber commit) const {
    const Chunk& chunk = ChunkOf(block * kBlockSlots);
    return chunk.current_since[block % kBlocksPerChunk].load(
               std::memory_order_acquire) <= commit;
  }
  // Prefetches what HasKey reads, and what IsVisible reads when the block is
  // not visible as a whole.
  void Prefetch(std::uint32_t slot, CommitNumber commit) const {
    const Chunk& chunk = ChunkOf(slot);
    const std::uint32_t i = slot % kSlotsPerChunk;
    const auto* const numbers = chunk.numbers.data();
    if (numbers != nullptr) __builtin_prefetch(&numbers[i]);
    if (IsWholeBlockVisible(slot / kBlockSlots, commit)) return;
    __builtin_prefetch(&chunk.created[i]);
    __builtin_prefetch(&chunk.deleted[i]);
  }

  // The following need a slot that is visible to the reader; the writer may
  // call them for any slot that is not free.
  const CatalogRecord& record(std::uint32_t slot) const {
    return *ChunkOf(slot).records[slot % kSlotsPerChunk];
  }
  bool HasKey(std::uint32_t slot, std::uint64_t number) const {
    if (NeedsRecord(number))
      return record(slot).key() == DocumentKeyView(number);
    return ChunkOf(slot).numbers[slot % kSlotsPerChunk] == number;
  }
  bool HasKey(std::uint32_t slot, std::string_view name) const {
    return record(slot).key() == DocumentKeyView(name);
  }
  bool HasKey(std::uint32_t slot, const DocumentKeyView& key) const {
    return std::visit([&](auto one) { return HasKey(slot, one); }, key);
  }
  // Whether HasKey reads the record.
  static bool NeedsRecord(std::uint64_t number) { return number == kNoNumber; }
  static bool NeedsRecord(std::string_view /*name*/) { return true; }
  // The number of the document's tags (TagSets).
  std::uint32_t tag_set(std::uint32_t slot) const {
    return ChunkOf(slot).tag_sets[slot % kSlotsPerChunk];
  }
  NameKeys names(std::uint32_t slot) const {
    const Chunk& chunk = ChunkOf(slot);
    const std::uint32_t i = slot % kSlotsPerChunk;
    return {chunk.ids[i], chunk.titles[i]};
  }
  // The keys of the following slots of the chunk are contiguous with this one.
  // Null if no document of the chunk has an id.
  const NameKey* ids(std::uint32_t slot) const {
    const NameKey* const ids = ChunkOf(slot).ids.data();
    return ids == nullptr ? nullptr : ids + slot % kSlotsPerChunk;
  }
  const NameKey* titles(std::uint32_t slot) const {
    return &ChunkOf(slot).titles[slot % kSlotsPerChunk];
  }
  CommitNumber created_commit(std::uint32_t slot) const {
    return ChunkOf(slot).created[slot % kSlotsPerChunk].load(
        std::memory_order_relaxed);
  }

  // The rest is for the writer alone.
  bool IsFree(std::uint32_t slot) const {
    return ChunkOf(slot).records[slot % kSlotsPerChunk] == nullptr;
  }
  bool IsCurrent(std::uint32_t slot) const {
    return deleted_commit(slot) == kNever;
  }
  // Whether the document of a slot that is not free was created or deleted
  // after `commit`.
  bool HasChanged(std::uint32_t slot, CommitNumber commit) const {
    const CommitNumber deleted = deleted_commit(slot);
    return created_commit(slot) > commit ||
           (deleted != kNever && deleted > commit);
  }
  struct Document {
    CatalogRecord::Pointer record;
    std::uint32_t tag_set = 0;
    NameKeys names = {};
  };
  // Adds kSlotsPerChunk free slots.
  void AddChunk();
  // These are the changes of state from the table above; Free also frees the
  // record.
  void Add(std::uint32_t slot, CommitNumber commit, Document document);
  void Remove(std::uint32_t slot, CommitNumber commit);
  void Free(std::uint32_t slot);

  std::size_t num_slots() const { return num_chunks_ * kSlotsPerChunk; }
  std::size_t num_bytes() const {
    return num_chunks_ * sizeof(Chunk) + num_value_bytes_;
  }

 private:
  static constexpr CommitNumber kNever = ~CommitNumber{0};
  static constexpr std::uint32_t kBlocksPerChunk = kSlotsPerChunk / kBlockSlots;
  // Marks a document that is known by name, or by this very number; HasKey then
  // reads the key from the record.
  static constexpr std::uint64_t kNoNumber = 0;

  struct Chunk {
    std::array<std::atomic<CommitNumber>, kSlotsPerChunk> created;
    std::array<std::atomic<CommitNumber>, kSlotsPerChunk> deleted;
    std::array<const CatalogRecord*, kSlotsPerChunk> records = {};
    // kNoNumber for documents known by name.
    SlotValues<std::uint64_t> numbers;
    SlotValues<std::uint32_t> tag_sets;
    SlotValues<NameKey> ids;
    std::array<NameKey, kSlotsPerChunk> titles = {};
    // The commit since which all slots of the block are current.
    std::array<std::atomic<CommitNumber>, kBlocksPerChunk> current_since;
    std::array<std::uint8_t, kBlocksPerChunk> num_current = {};
  };

  // kNever until the document is deleted or replaced; 0 before the first one.
  CommitNumber deleted_commit(std::uint32_t slot) const {
    return ChunkOf(slot).deleted[slot % kSlotsPerChunk].load(
        std::memory_order_relaxed);
  }
  Chunk& ChunkOf(std::uint32_t slot) const {
    return *chunks_[slot / kSlotsPerChunk];
  }

  std::size_t num_chunks_ = 0;
  std::size_t num_value_bytes_ = 0;  // of the chunks' SlotValues
  // Never resized, because readers use it while chunks are added.
  const std::unique_ptr<std::unique_ptr<Chunk>[]> chunks_;
};

// The vectors that one model computed for the documents, by slot.
//
//   Shape    row `slot` has the model's format (row_format.h). Beside it lies a
//            copy in 4-bit codes, which a search reads first (row_bounds.h); an
//            int8 row is split into codes and remainders instead. In a chunk of
//            16,384 rows the codes, the rows or remainders, and the scales are
//            contiguous; growing copies nothing.
//   Memory   huge pages where the system has them: at 256 dimensions the codes
//            of a chunk fill one of 2 MiB.
//   Threads  one writer; readers read rows that the writer does not touch.
class CatalogVectors {
 public:
  // `model_number` is ServedModel::number.
  CatalogVectors(std::uint32_t model_number, RowFormat format);
  CatalogVectors(const CatalogVectors&) = delete;
  CatalogVectors& operator=(const CatalogVectors&) = delete;

  std::uint32_t model_number() const { return model_number_; }
  RowFormat format() const { return format_; }

  // Reserve must have been called for the slots of the following.

  // scores[i] = query . the vector of slots[i], to the bits that ScoreDocuments
  // computes. `prepared` is the same query if is_split(). Prefetches vectors.
  void Score(std::span<const float> query, const BoundQuery& prepared,
             std::span<const std::uint32_t> slots,
             std::span<float> scores) const;
  // Writes format().dim elements.
  void Read(std::uint32_t slot, std::span<float> vector) const;
  void Prefetch(std::uint32_t slot) const;
  // Whether there are codes and remainders in place of rows.
  bool is_split() const { return CanSplit(format_); }
  // Only vectors that are not split have rows.
  const std::byte* row(std::uint32_t slot) const {
    return chunk(slot) + RowsBegin() + slot % kRowsPerChunk * RowBytes();
  }
  // Rows of more than kMaxBoundDim dimensions have no codes.
  bool has_codes() const {
    return 0 < format_.dim && format_.dim <= kMaxBoundDim;
  }
  const std::uint8_t* codes(std::uint32_t slot) const {
    return reinterpret_cast<const std::uint8_t*>(chunk(slot)) +
           slot % kRowsPerChunk * NumCodeBytes(format_.dim);
  }
  const RowScale* scales(std::uint32_t slot) const {
    return reinterpret_cast<const RowScale*>(chunk(slot) + ScalesBegin()) +
           slot % kRowsPerChunk;
  }

  // Makes room for slots below `num_slots`. Returns ResourceExhausted when the
  // system has not enough memory.
  absl::Status Reserve(std::size_t num_slots);
  // `vector` is format().dim rounded floats.
  void Set(std::uint32_t slot, const float* vector);
  // Does not count the unused rest of the last chunk, for which the system
  // allocates no memory yet.
  std::size_t num_bytes() const {
    return num_slots_ * (ChunkBytes() / kRowsPerChunk);
  }

 private:
  static constexpr std::size_t kRowsPerChunk = 16'384;
  static constexpr std::size_t kMaxChunks =
      CatalogSlots::kMaxSlots / kRowsPerChunk;
  struct FreeMemory {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  using Chunk = std::unique_ptr<std::byte[], FreeMemory>;

  const std::byte* chunk(std::uint32_t slot) const {
    return chunks_[slot / kRowsPerChunk].get();
  }
  SplitRow split_row(std::uint32_t slot) const {
    return {codes(slot),
            reinterpret_cast<const std::uint8_t*>(chunk(slot)) + RowsBegin() +
                slot % kRowsPerChunk * RowBytes(),
            scales(slot)};
  }
  // The size of a row, or of its remainders.
  std::size_t RowBytes() const {
    return is_split() ? NumCodeBytes(format_.dim) : format_.num_bytes();
  }
  // A chunk is its codes, then its rows or remainders, then its scales.
  std::size_t RowsBegin() const {
    return has_codes() ? kRowsPerChunk * NumCodeBytes(format_.dim) : 0;
  }
  std::size_t ScalesBegin() const {
    return RowsBegin() + kRowsPerChunk * RowBytes();
  }
  std::size_t ChunkBytes() const {
    return ScalesBegin() + (has_codes() ? kRowsPerChunk * sizeof(RowScale) : 0);
  }

  const std::uint32_t model_number_;
  const RowFormat format_;
  std::size_t num_slots_ = 0;  // as reserved
  std::size_t num_chunks_ = 0;
  // Never resized, as in CatalogSlots.
  const std::unique_ptr<Chunk[]> chunks_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_STORE_CATALOG_SLOTS_H_
