// The catalog as readers see it: as of one commit, however long they look.
//
//   Reading  takes no lock and never waits for a writer. Taking a snapshot
//            locks a mutex for a copy of a few pointers.
//   Memory   a snapshot that is held keeps what it sees.
#ifndef SEMRANK_SERVER_CATALOG_STORE_CATALOG_SNAPSHOT_H_
#define SEMRANK_SERVER_CATALOG_STORE_CATALOG_SNAPSHOT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "model/base/fingerprint.h"
#include "model/base/mutex.h"
#include "server/catalog/store/catalog_index.h"
#include "server/catalog/store/catalog_record.h"
#include "server/catalog/store/catalog_slots.h"
#include "server/catalog/store/sparse_rows.h"
#include "server/models/served_model.h"

namespace semrank {

// What one model gave the documents, by slot.
struct ModelRows {
  explicit ModelRows(const ServedModel& served);
  absl::Status Reserve(std::size_t num_slots);
  std::size_t num_bytes() const;

  CatalogVectors vectors;
  const std::unique_ptr<SparseRows> sparse;  // null for a model without
};

// What a reader needs, as of one commit.
struct CatalogState {
  CommitNumber commit = 0;
  std::size_t num_slots = 0;
  std::size_t num_documents = 0;
  std::uint32_t num_tag_sets = 0;
  std::shared_ptr<const CatalogIndex> index;
  std::shared_ptr<const ModelRows> rows;
  ServedModelPtr model;
};

class CatalogSnapshot;

// The last commit, and which ones readers still look at.
//
//   Threads  every method, from any thread.
class CatalogCommits {
 public:
  // `slots` must outlive this and every snapshot.
  explicit CatalogCommits(const CatalogSlots& slots);

  // The last commit. No slot that it sees may be used again as long as the
  // snapshot is held.
  CatalogSnapshot TakeSnapshot() const;
  void Publish(CatalogState state);
  // The oldest commit that a reader may still look at.
  CommitNumber OldestRead() const;

  // Of a document's key, for the index. Its secret is drawn at start: no client
  // can construct keys that collide.
  std::uint64_t HashOf(std::uint64_t number) const;
  std::uint64_t HashOf(std::string_view name) const;
  std::uint64_t HashOf(const DocumentKeyView& key) const {
    return std::visit([this](auto one) { return HashOf(one); }, key);
  }

 private:
  friend class CatalogSnapshot;
  struct Pin {
    CommitNumber commit = 0;
    int count = 0;
  };

  void Unpin(CommitNumber commit) const;

  const CatalogSlots& slots_;
  const Fingerprinter::Secret secret_;
  // Held for a few instructions.
  mutable Mutex mutex_;
  CatalogState state_ ABSL_GUARDED_BY(mutex_);
  // By commit; two or three at a time.
  mutable std::vector<Pin> pins_ ABSL_GUARDED_BY(mutex_);
};

// The catalog as of one commit. Pointers and views from it live as long as it
// does. An empty one (default constructed) may only be assigned to.
class CatalogSnapshot {
 public:
  CatalogSnapshot() = default;
  ~CatalogSnapshot() { Release(); }
  CatalogSnapshot(CatalogSnapshot&& other) noexcept;
  CatalogSnapshot& operator=(CatalogSnapshot&& other) noexcept;

  explicit operator bool() const { return commits_ != nullptr; }
  // Ends the view.
  void Release();

  // Whose vectors these are; null before the first.
  const ServedModelPtr& model() const { return state_.model; }
  std::size_t num_documents() const { return state_.num_documents; }
  CommitNumber commit() const { return state_.commit; }
  bool IsOf(const CatalogCommits& commits) const {
    return commits_ == &commits;
  }

  // The document's slot, or none.
  std::optional<std::uint32_t> Find(const DocumentKeyView& key) const;
  // The slot of each number or name, or kNoSlot, in as many passes as there are
  // levels of indirection, so that the misses of the CPU's caches overlap.
  static constexpr std::uint32_t kNoSlot = 0xffffffff;
  template <typename Key>
  void FindAll(std::span<const Key> keys,
               std::span<std::uint32_t> slots) const {
    for (std::size_t first = 0; first < keys.size(); first += kFindBlock) {
      const std::size_t size = std::min(kFindBlock, keys.size() - first);
      FindBlock(keys.subspan(first, size), slots.subspan(first, size));
    }
  }

  // Slots in [0, num_slots()) may hold a document; IsSeen tells.
  std::size_t num_slots() const { return state_.num_slots; }
  bool IsSeen(std::uint32_t slot) const {
    return slots_->IsSeen(slot, state_.commit);
  }
  // The commit with which the document of a slot that is seen appeared.
  CommitNumber born(std::uint32_t slot) const { return slots_->born(slot); }
  // The 64 slots from block * 64, all at once: see CatalogSlots.
  bool IsWholeBlockSeen(std::uint32_t block) const {
    return slots_->IsWholeBlockSeen(block, state_.commit);
  }

  // Of a slot that is seen.
  const CatalogRecord& record(std::uint32_t slot) const {
    return slots_->record(slot);
  }
  // Documents with the same tags have the same number, below num_tag_sets().
  std::uint32_t tag_set(std::uint32_t slot) const {
    return slots_->tag_set(slot);
  }
  std::uint32_t num_tag_sets() const { return state_.num_tag_sets; }
  // Those of the rest of its block lie behind it.
  const NameKeys* names(std::uint32_t slot) const {
    return slots_->names(slot);
  }
  // A row of row_format(), to score; the rows of a block are contiguous.
  const std::byte* row(std::uint32_t slot) const {
    return state_.rows->vectors.row(slot);
  }
  RowFormat row_format() const { return state_.rows->vectors.format(); }
  // A copy of the row in float32.
  std::vector<float> vector(std::uint32_t slot) const;
  // Their copies in 4 bits, to search; the codes and the scales of a block are
  // contiguous too. Only if has_codes().
  bool has_codes() const { return state_.rows->vectors.has_codes(); }
  const std::uint8_t* codes(std::uint32_t slot) const {
    return state_.rows->vectors.codes(slot);
  }
  const RowScale* scales(std::uint32_t slot) const {
    return state_.rows->vectors.scales(slot);
  }
  // Whether a slot that both see has its vector at the same place.
  bool HasSameRows(const CatalogSnapshot& other) const {
    return state_.rows == other.state_.rows;
  }
  // What the model scores beside the vectors; null for a model without.
  const SparseRows* sparse_rows() const { return state_.rows->sparse.get(); }

 private:
  friend class CatalogCommits;
  // Keys that are looked up together: enough misses in flight, and few enough
  // that what was prefetched is still there.
  static constexpr std::size_t kFindBlock = 64;

  template <typename Key>
  std::optional<std::uint32_t> Find(const Key& key, std::uint64_t hash) const;
  template <typename Key>
  void FindBlock(std::span<const Key> keys,
                 std::span<std::uint32_t> slots) const;

  const CatalogCommits* commits_ = nullptr;
  const CatalogSlots* slots_ = nullptr;
  CatalogState state_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_STORE_CATALOG_SNAPSHOT_H_
