// The catalog as readers see it: as of one commit, for as long as they hold the
// snapshot.
//
//   Reading  takes no lock and never waits for a writer. Taking a snapshot
//            locks a mutex while a few pointers are copied.
//   Memory   a snapshot keeps the documents and vectors that it sees.
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

// What one model computed for the documents, by slot.
struct ModelRows {
  explicit ModelRows(const ServedModel& served);
  absl::Status Reserve(std::size_t num_slots);
  std::size_t num_bytes() const;

  CatalogVectors vectors;
  const std::unique_ptr<SparseRows> sparse;  // null if the model has none
};

// What a snapshot copies.
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

// The last commit, and the commits that readers still look at. Thread-safe.
class CatalogCommits {
 public:
  // `slots` must outlive this and every snapshot.
  explicit CatalogCommits(const CatalogSlots& slots);

  // Takes a snapshot of the last commit. As long as it is held, no slot that it
  // sees may be freed.
  CatalogSnapshot TakeSnapshot() const;
  void Publish(CatalogState state);
  // Returns the oldest commit that a reader may still look at.
  CommitNumber OldestRead() const;

  // Hashes a document's key for the index. The secret is drawn at start, so no
  // client can construct keys that collide.
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
  mutable Mutex mutex_;
  CatalogState state_ ABSL_GUARDED_BY(mutex_);
  // The commits in ascending order; rarely more than three.
  mutable std::vector<Pin> pins_ ABSL_GUARDED_BY(mutex_);
};

// The catalog as of one commit. Pointers and views from a snapshot are valid as
// long as it is held. An empty one (default constructed) may only be assigned
// to.
class CatalogSnapshot {
 public:
  CatalogSnapshot() = default;
  ~CatalogSnapshot() { Release(); }
  CatalogSnapshot(CatalogSnapshot&& other) noexcept;
  CatalogSnapshot& operator=(CatalogSnapshot&& other) noexcept;

  explicit operator bool() const { return commits_ != nullptr; }
  // Makes the snapshot empty.
  void Release();

  // The model that computed the vectors; null before the first model.
  const ServedModelPtr& model() const { return state_.model; }
  std::size_t num_documents() const { return state_.num_documents; }
  CommitNumber commit() const { return state_.commit; }
  bool IsOf(const CatalogCommits& commits) const {
    return commits_ == &commits;
  }

  std::optional<std::uint32_t> Find(const DocumentKeyView& key) const;
  // Finds the slot of each number or name, or kNoSlot. Does so in passes, one a
  // level of indirection, so that misses of the CPU's caches overlap.
  static constexpr std::uint32_t kNoSlot = 0xffffffff;
  template <typename Key>
  void FindAll(std::span<const Key> keys,
               std::span<std::uint32_t> slots) const {
    for (std::size_t first = 0; first < keys.size(); first += kFindBlock) {
      const std::size_t size = std::min(kFindBlock, keys.size() - first);
      FindBlock(keys.subspan(first, size), slots.subspan(first, size));
    }
  }

  // Every document that is visible is in a slot below num_slots().
  std::size_t num_slots() const { return state_.num_slots; }
  bool IsVisible(std::uint32_t slot) const {
    return slots_->IsVisible(slot, state_.commit);
  }
  CommitNumber created_commit(std::uint32_t slot) const {
    return slots_->created_commit(slot);
  }
  // Whether all 64 slots from block * 64 on are visible.
  bool IsWholeBlockVisible(std::uint32_t block) const {
    return slots_->IsWholeBlockVisible(block, state_.commit);
  }

  // The following need a visible slot.
  const CatalogRecord& record(std::uint32_t slot) const {
    return slots_->record(slot);
  }
  // Equal for documents with the same tags, and below num_tag_sets().
  std::uint32_t tag_set(std::uint32_t slot) const {
    return slots_->tag_set(slot);
  }
  std::uint32_t num_tag_sets() const { return state_.num_tag_sets; }
  NameKeys names(std::uint32_t slot) const { return slots_->names(slot); }
  // The keys of the following slots of its block are contiguous with this one.
  // Null if no document near it has an id.
  const NameKey* ids(std::uint32_t slot) const { return slots_->ids(slot); }
  const NameKey* titles(std::uint32_t slot) const {
    return slots_->titles(slot);
  }
  // The vectors, which Score reads where they lie.
  const CatalogVectors& vectors() const { return state_.rows->vectors; }
  // As CatalogVectors::Score, with a query that is not prepared.
  void Score(std::span<const float> query, std::span<const std::uint32_t> slots,
             std::span<float> scores) const;
  // A copy of the vector in float32.
  std::vector<float> vector(std::uint32_t slot) const;
  // The vectors in 4-bit codes (row_bounds.h), if has_codes(); the codes and
  // the scales of a block are contiguous too.
  bool has_codes() const { return state_.rows->vectors.has_codes(); }
  const std::uint8_t* codes(std::uint32_t slot) const {
    return state_.rows->vectors.codes(slot);
  }
  const RowScale* scales(std::uint32_t slot) const {
    return state_.rows->vectors.scales(slot);
  }
  // Whether a slot that is visible in both has its vector at the same place.
  bool HasSameRows(const CatalogSnapshot& other) const {
    return state_.rows == other.state_.rows;
  }
  // What the model scores beside the vectors; null if it has none.
  const SparseRows* sparse_rows() const { return state_.rows->sparse.get(); }

 private:
  friend class CatalogCommits;
  // The number of keys that are looked up together: enough for many misses in
  // flight, and few enough that what was prefetched is still in the cache.
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
