// The documents known by id, in memory: key, title, payload and the vector that
// the catalog's model gave the title.
//
//   Reading  on a snapshot (catalog_snapshot.h), which never waits for a
//            writer.
//   Writing  one writer at a time; a call is one commit, seen as a whole or
//            not at all.
//   Models   one model's vectors answer. Those of the next are gathered beside
//            them and take their place by one pointer swap once every document
//            has one: vectors of two models are never mixed. Those that
//            answered before are kept until another model is on its way, for a
//            rollback; so there are never more than two models' vectors.
//   Memory   embedding_dim * 4.5 bytes a document (2.5 in bf16, 1.5 in int8),
//            at most 128 more beside its key, title, payload, tags and sparse
//            row (sparse_rows.h); slots are kept for later documents and never
//            given back. A snapshot that is held keeps what it sees.
//   Threads  every method, from any thread.
#ifndef SEMRANK_SERVER_CATALOG_STORE_DOCUMENT_CATALOG_H_
#define SEMRANK_SERVER_CATALOG_STORE_DOCUMENT_CATALOG_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "model/base/mutex.h"
#include "server/catalog/store/catalog_index.h"
#include "server/catalog/store/catalog_record.h"
#include "server/catalog/store/catalog_slots.h"
#include "server/catalog/store/catalog_snapshot.h"
#include "server/catalog/store/document_tags.h"
#include "server/catalog/store/sparse_rows.h"
#include "server/models/served_model.h"

namespace semrank {

class DocumentCatalog {
 public:
  using Snapshot = CatalogSnapshot;

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
  Snapshot TakeSnapshot() const { return commits_.TakeSnapshot(); }
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
  ServedModelPtr NextModel() const;
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
  void End(std::uint32_t slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_mutex_);
  // Makes the present state the one that is read, and reclaims the slots that
  // no reader can see any more.
  void Publish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_mutex_);
  void Reclaim(CommitNumber oldest_read)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_mutex_);

  const std::size_t max_documents_;
  CatalogSlots slots_;  // read without a lock, see there
  CatalogCommits commits_;

  mutable Mutex writer_mutex_;
  CatalogState next_ ABSL_GUARDED_BY(writer_mutex_);
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

  mutable Mutex stats_mutex_;
  Stats stats_ ABSL_GUARDED_BY(stats_mutex_);
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_STORE_DOCUMENT_CATALOG_H_
