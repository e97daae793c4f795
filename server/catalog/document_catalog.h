// The documents known by id, in memory: key, title, payload and the vector that
// the catalog's model gave the title.
//
//   Reading  on a Snapshot: the catalog as of one commit, however long it is
//            held. Taking one locks a mutex for a copy of a few pointers;
//            reading takes no lock and never waits for a writer.
//   Writing  one writer at a time; a call is one commit, seen as a whole or
//            not at all.
//   Models   one model's vectors answer. Those of the next are gathered beside
//            them and take their place by one pointer swap once every document
//            has one: vectors of two models are never mixed. Those that
//            answered before are kept until another model is on its way, for a
//            rollback; so there are never more than two models' vectors.
//   Memory   embedding_dim * 5 bytes a document (3 with bfloat16 rows), at most
//            128 more beside its key, title, payload, tags and sparse row
//            (sparse_rows.h); slots are kept for later documents and never
//            given back. A snapshot that is held keeps what it sees.
//   Threads  every method, from any thread.
#ifndef SEMRANK_SERVER_CATALOG_DOCUMENT_CATALOG_H_
#define SEMRANK_SERVER_CATALOG_DOCUMENT_CATALOG_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "model/base/fingerprint.h"
#include "model/base/mutex.h"
#include "server/catalog/catalog_index.h"
#include "server/catalog/catalog_record.h"
#include "server/catalog/catalog_slots.h"
#include "server/catalog/document_tags.h"
#include "server/catalog/sparse_rows.h"
#include "server/models/served_model.h"

namespace semrank {

class DocumentCatalog {
 public:
  class Snapshot;

  struct Stats {
    std::size_t num_documents = 0;
    // Of vectors, keys, titles, payloads and everything around them.
    std::size_t num_bytes = 0;
  };
  struct PutCounts {
    std::uint32_t num_created = 0;
    std::uint32_t num_replaced = 0;
  };
  // Row-major [documents, embedding_dim] of one model, as it made them.
  struct Rows {
    ServedModelPtr model;
    const float* rows = nullptr;
  };
  // Runs inside a commit, before it is seen; an error ends it.
  using BeforeCommit = std::function<absl::Status()>;

  // `max_documents` is at most 64 Mi.
  explicit DocumentCatalog(std::size_t max_documents);
  DocumentCatalog(const DocumentCatalog&) = delete;
  DocumentCatalog& operator=(const DocumentCatalog&) = delete;

  std::size_t max_documents() const { return max_documents_; }
  Snapshot TakeSnapshot() const;
  // Has every commit whose `before_commit` has begun: waits for the writer.
  Snapshot TakeSettledSnapshot() const;
  Stats GetStats() const;

  // The models whose vectors a put must bring: the one that answers, and the
  // next if one is on its way. Empty before the first.
  std::vector<ServedModelPtr> Models() const;

  // Puts records[i], in order, with row i of each model's rows; there must be
  // a model. The records are taken over, unless there is an error: Aborted when
  // `rows` lacks one of Models(), which have just changed;
  // ResourceExhausted over max_documents or without memory. Nothing is changed
  // then. Unless `since` is null, documents that were put or deleted after it
  // are left as they are.
  absl::StatusOr<PutCounts> Put(std::span<CatalogRecord::Pointer> records,
                                std::span<const Rows> rows,
                                const BeforeCommit& before_commit = {},
                                const Snapshot* since = nullptr);
  // found[i] becomes whether keys[i] was there. Returns how many were. `since`
  // as above; what it leaves counts as not found.
  absl::StatusOr<std::uint32_t> Delete(std::span<const DocumentKeyView> keys,
                                       std::vector<bool>& found,
                                       const BeforeCommit& before_commit = {},
                                       const Snapshot* since = nullptr);

  // `model` is to answer: at once in an empty catalog, else once FinishModel
  // says so. A model that was on its way is dropped. Another version with the
  // same number takes the vectors that are there; the model that answered
  // before the present one finds those that it had then. ResourceExhausted
  // without memory.
  absl::Status BeginModel(ServedModelPtr model);
  // Documents that a snapshot sees as born with this commit or before have
  // their vectors of the next model already; 0 = none.
  CommitNumber NextModelCommit() const;
  // Row i of `rows` is the next model's vector of the document in slots[i] as
  // `snapshot` sees it. Documents that have left since are passed over; the
  // others are visited first, by their i, while no other writer runs.
  void AddRows(
      const Snapshot& snapshot, std::span<const std::uint32_t> slots,
      const float* rows,
      const std::function<void(std::span<const std::size_t>)>& visit = {});
  // Visits, by their i, those of `slots` whose documents are as `snapshot` sees
  // them, while no other writer runs.
  void VisitLive(
      const Snapshot& snapshot, std::span<const std::uint32_t> slots,
      const std::function<void(std::span<const std::size_t>)>& visit) const;
  // The next model answers from now on. Every document must have its vector.
  void FinishModel();

 private:
  // What one model gave the documents, by slot.
  struct ModelRows {
    explicit ModelRows(const ServedModel& served);
    absl::Status Reserve(std::size_t num_slots);
    std::size_t num_bytes() const;

    CatalogVectors vectors;
    const std::unique_ptr<SparseRows> sparse;  // null for a model without
  };
  // What a reader needs, as of one commit.
  struct State {
    CommitNumber commit = 0;
    std::size_t num_slots = 0;
    std::size_t num_documents = 0;
    std::uint32_t num_tag_sets = 0;
    std::shared_ptr<const CatalogIndex> index;
    std::shared_ptr<const ModelRows> rows;
    ServedModelPtr model;
  };
  struct Pin {
    CommitNumber commit = 0;
    int count = 0;
  };

  ServedModelPtr NextModel() const;
  std::uint64_t HashOf(const DocumentKeyView& key) const;
  std::optional<std::uint32_t> FindLive(std::uint64_t hash,
                                        const DocumentKeyView& key) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_mutex_);
  // Whether the document was put or deleted after `since`, which keeps the
  // slots of what it saw from being used again.
  bool HasChanged(std::uint64_t hash, const DocumentKeyView& key,
                  const Snapshot* since) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_mutex_);
  absl::Status CheckModels(std::span<const Rows> rows) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_mutex_);
  absl::Status CheckFits(std::span<const CatalogRecord::Pointer> records) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_mutex_);
  absl::Status MakeRoom(std::size_t num_documents)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_mutex_);
  void GrowIndex(std::size_t num_more)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_mutex_);
  // What a put brings for one model.
  struct NewRows {
    Rows vectors;
    SparseBatch sparse;
  };
  void SetRows(std::uint32_t slot, std::size_t i, std::span<const NewRows> rows)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_mutex_);
  // Once rows have been set: what makes them quick to search.
  void MakeSegments() ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_mutex_);
  // The i for which slots[i] holds a document.
  std::vector<std::size_t> LiveOf(std::span<const std::uint32_t> slots) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_mutex_);
  // The oldest commit that a reader may still look at.
  CommitNumber OldestRead() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_mutex_);
  void End(std::uint32_t slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_mutex_);
  // Makes the present state the one that is read, and reclaims the slots that
  // no reader can see any more.
  void Publish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_mutex_);
  void Reclaim(CommitNumber oldest_read)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_mutex_);
  void Unpin(CommitNumber commit) const;

  const std::size_t max_documents_;
  // Its secret is drawn at start: no client can construct keys that collide.
  const Fingerprinter fingerprint_;
  CatalogSlots slots_;  // read without a lock, see there

  mutable Mutex writer_mutex_;
  State next_ ABSL_GUARDED_BY(writer_mutex_);
  std::shared_ptr<CatalogIndex> index_ ABSL_GUARDED_BY(writer_mutex_);
  std::shared_ptr<ModelRows> rows_ ABSL_GUARDED_BY(writer_mutex_);
  std::shared_ptr<ModelRows> next_rows_ ABSL_GUARDED_BY(writer_mutex_);
  ServedModelPtr next_model_ ABSL_GUARDED_BY(writer_mutex_);
  // See NextModelCommit.
  CommitNumber next_model_commit_ ABSL_GUARDED_BY(writer_mutex_) = 0;
  // Of the model that answered before, as of previous_commit_; null = none.
  std::shared_ptr<ModelRows> previous_rows_ ABSL_GUARDED_BY(writer_mutex_);
  CommitNumber previous_commit_ ABSL_GUARDED_BY(writer_mutex_) = 0;
  std::vector<std::uint32_t> free_slots_ ABSL_GUARDED_BY(writer_mutex_);
  // Slots whose documents have left, by the commit with which they did.
  struct Ended {
    CommitNumber commit;
    std::uint32_t slot;
  };
  std::deque<Ended> ended_ ABSL_GUARDED_BY(writer_mutex_);
  // A set's number is free again once no reader can see a document with it.
  TagSets tag_sets_ ABSL_GUARDED_BY(writer_mutex_);
  std::size_t record_bytes_ ABSL_GUARDED_BY(writer_mutex_) = 0;

  // Held for a few instructions.
  mutable Mutex state_mutex_;
  State state_ ABSL_GUARDED_BY(state_mutex_);
  // By commit; two or three at a time.
  mutable std::vector<Pin> pins_ ABSL_GUARDED_BY(state_mutex_);
  Stats stats_ ABSL_GUARDED_BY(state_mutex_);
};

// The catalog as of one commit. Pointers and views from it live as long as it
// does. An empty one (default constructed) may only be assigned to.
class DocumentCatalog::Snapshot {
 public:
  Snapshot() = default;
  ~Snapshot() { Release(); }
  Snapshot(Snapshot&& other) noexcept;
  Snapshot& operator=(Snapshot&& other) noexcept;

  explicit operator bool() const { return catalog_ != nullptr; }
  // Ends the view.
  void Release();

  // Whose vectors these are; null before the first.
  const ServedModelPtr& model() const { return state_.model; }
  std::size_t num_documents() const { return state_.num_documents; }

  // The document's slot, or none.
  std::optional<std::uint32_t> Find(const DocumentKeyView& key) const;
  // The slot of each key, or kNoSlot, in as many passes as there are levels of
  // indirection, so that the misses of the CPU's caches overlap.
  static constexpr std::uint32_t kNoSlot = 0xffffffff;
  template <typename Key>
  void FindAll(std::span<const Key> keys,
               std::span<std::uint32_t> slots) const {
    std::array<DocumentKeyView, kFindBlock> block;
    for (std::size_t first = 0; first < keys.size(); first += kFindBlock) {
      const std::size_t size = std::min(kFindBlock, keys.size() - first);
      std::copy_n(keys.begin() + first, size, block.begin());
      FindBlock(std::span(block).first(size), slots.subspan(first, size));
    }
  }

  // Slots in [0, num_slots()) may hold a document; IsSeen tells.
  std::size_t num_slots() const { return state_.num_slots; }
  bool IsSeen(std::uint32_t slot) const {
    return catalog_->slots_.IsSeen(slot, state_.commit);
  }
  // The commit with which the document of a slot that is seen appeared.
  CommitNumber born(std::uint32_t slot) const {
    return catalog_->slots_.born(slot);
  }
  // The 64 slots from block * 64, all at once: see CatalogSlots.
  bool IsWholeBlockSeen(std::uint32_t block) const {
    return catalog_->slots_.IsWholeBlockSeen(block, state_.commit);
  }

  // Of a slot that is seen.
  const CatalogRecord& record(std::uint32_t slot) const {
    return catalog_->slots_.record(slot);
  }
  // Documents with the same tags have the same number, below num_tag_sets().
  std::uint32_t tag_set(std::uint32_t slot) const {
    return catalog_->slots_.tag_set(slot);
  }
  std::uint32_t num_tag_sets() const { return state_.num_tag_sets; }
  // Those of the rest of its block lie behind it.
  const NameKeys* names(std::uint32_t slot) const {
    return catalog_->slots_.names(slot);
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
  bool HasSameRows(const Snapshot& other) const {
    return state_.rows == other.state_.rows;
  }
  // What the model scores beside the vectors; null for a model without.
  const SparseRows* sparse_rows() const { return state_.rows->sparse.get(); }

 private:
  friend class DocumentCatalog;
  // Keys that are looked up together: enough misses in flight, and few enough
  // that what was prefetched is still there.
  static constexpr std::size_t kFindBlock = 64;

  std::optional<std::uint32_t> Find(const DocumentKeyView& key,
                                    std::uint64_t hash) const;
  void FindBlock(std::span<const DocumentKeyView> keys,
                 std::span<std::uint32_t> slots) const;

  const DocumentCatalog* catalog_ = nullptr;
  State state_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_DOCUMENT_CATALOG_H_
