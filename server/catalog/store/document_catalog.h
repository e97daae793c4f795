// The documents known by id, in memory: key, title, payload, tags, and what the
// catalog's model computed for the title.
//
//   Reading  through a snapshot (catalog_snapshot.h), which never waits for a
//            writer.
//   Writing  one writer at a time; a call is one commit, which becomes visible
//            as a whole or not at all.
//   Models   one model's vectors answer. The vectors of the next model are
//            collected beside them, and replace them by one pointer swap once
//            every document has one: vectors of two models are never mixed. The
//            replaced vectors are kept for a rollback until BeginModel is
//            called for a third model, so there are at most two models'
//            vectors.
//   Memory   embedding_dim * 4.5 bytes a document (2.5 in bf16, 1 in int8)
//            and at most 128 more, beside its key, title, payload, tags and
//            sparse row (sparse_rows.h). Slots are reused and never freed.
//   Threads  all methods are thread-safe.
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
  struct Stats {
    std::size_t num_documents = 0;
    std::size_t num_bytes = 0;  // of everything the catalog keeps
  };
  struct PutCounts {
    std::uint32_t num_created = 0;
    std::uint32_t num_replaced = 0;
    ServedModelPtr model;  // the model that answers for the documents
  };
  // Row-major [documents, embedding_dim], as `model` computed them.
  struct Rows {
    ServedModelPtr model;
    const float* rows = nullptr;
  };
  // Runs inside a commit before it becomes visible; an error cancels the
  // commit.
  using BeforeCommit = std::function<absl::Status()>;
  using VisitIndices = std::function<void(std::span<const std::size_t>)>;

  // `max_documents` is at most 64 Mi.
  explicit DocumentCatalog(std::size_t max_documents);
  DocumentCatalog(const DocumentCatalog&) = delete;
  DocumentCatalog& operator=(const DocumentCatalog&) = delete;

  std::size_t max_documents() const { return max_documents_; }
  CatalogSnapshot TakeSnapshot() const { return commits_.TakeSnapshot(); }
  // Waits for the writer, so that the snapshot has every commit whose
  // `before_commit` has begun.
  CatalogSnapshot TakeSettledSnapshot() const;
  Stats GetStats() const;

  // The models whose vectors a put must bring: the one that answers, then the
  // next one if it is being prepared. Empty before the first model.
  std::vector<ServedModelPtr> Models() const;

  // Puts records[i] with row i of each of `rows`, in order; there must be a
  // model. With `since`, skips documents that were put or deleted after that
  // snapshot. Moves from `records` on success only. An error changes nothing.
  // It is Aborted when `rows` lacks one of Models(), which has just been added,
  // or ResourceExhausted over max_documents or without memory.
  absl::StatusOr<PutCounts> Put(std::span<CatalogRecord::Pointer> records,
                                std::span<const Rows> rows,
                                const BeforeCommit& before_commit = {},
                                const CatalogSnapshot* since = nullptr);
  // Sets found[i] to whether there was a document with keys[i], and returns how
  // many there were. `since` as above; documents that are skipped count as not
  // found.
  absl::StatusOr<std::uint32_t> Delete(std::span<const DocumentKeyView> keys,
                                       std::vector<bool>& found,
                                       const BeforeCommit& before_commit = {},
                                       const CatalogSnapshot* since = nullptr);

  // Prepares `model` to answer: at once in an empty catalog, else with
  // FinishModel. Drops another model that is being prepared. Another version
  // with the same number keeps the vectors; the model that answered before the
  // present one finds the vectors that it had then. Returns ResourceExhausted
  // without memory.
  absl::Status BeginModel(ServedModelPtr model);
  // Documents whose created_commit is at most this one have the next model's
  // vectors already; 0 = none has.
  CommitNumber NextModelCommit() const;
  // Row i of `rows` is the next model's vector of the document that `snapshot`
  // has in slots[i]. Skips documents that are no longer current. `visit` gets
  // the indices i of the others before their rows are set, while no other
  // writer runs.
  void AddRows(const CatalogSnapshot& snapshot,
               std::span<const std::uint32_t> slots, const float* rows,
               const VisitIndices& visit = {});
  // Calls `visit` with the indices i for which the document that `snapshot` has
  // in slots[i] is still current, while no other writer runs.
  void VisitCurrent(const CatalogSnapshot& snapshot,
                    std::span<const std::uint32_t> slots,
                    const VisitIndices& visit) const;
  // Lets the next model answer. Every document must have its vector.
  void FinishModel();

 private:
  ServedModelPtr NextModel() const;
  std::optional<std::uint32_t> FindCurrent(std::uint64_t hash,
                                           const DocumentKeyView& key) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_mutex_);
  // Whether the document was put or deleted after `since`, which keeps the
  // slots that it sees from being freed.
  bool HasChanged(std::uint64_t hash, const DocumentKeyView& key,
                  const CatalogSnapshot* since) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_mutex_);
  absl::Status CheckModels(std::span<const Rows> rows) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_mutex_);
  absl::Status CheckFits(std::span<const CatalogRecord::Pointer> records) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_mutex_);
  absl::Status MakeRoom(std::size_t num_documents)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_mutex_);
  void GrowIndex(std::size_t num_more)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_mutex_);
  // What a put adds for one model.
  struct NewRows {
    Rows vectors;
    SparseBatch sparse;
  };
  void SetRows(std::uint32_t slot, std::size_t i, std::span<const NewRows> rows)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_mutex_);
  // Indexes the sparse rows that were set.
  void MakeSegments() ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_mutex_);
  // The indices i for which slots[i] is current.
  std::vector<std::size_t> CurrentOf(std::span<const std::uint32_t> slots) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_mutex_);
  void Remove(std::uint32_t slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_mutex_);
  // Makes the present state visible, and frees the slots that no reader can see
  // any more.
  void Publish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_mutex_);
  void FreeSlots(CommitNumber oldest_read)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_mutex_);

  const std::size_t max_documents_;
  CatalogSlots slots_;  // readers take no lock
  CatalogCommits commits_;

  mutable Mutex writer_mutex_;
  CatalogState next_ ABSL_GUARDED_BY(writer_mutex_);
  std::shared_ptr<CatalogIndex> index_ ABSL_GUARDED_BY(writer_mutex_);
  std::shared_ptr<ModelRows> rows_ ABSL_GUARDED_BY(writer_mutex_);
  std::shared_ptr<ModelRows> next_rows_ ABSL_GUARDED_BY(writer_mutex_);
  ServedModelPtr next_model_ ABSL_GUARDED_BY(writer_mutex_);
  CommitNumber next_model_commit_ ABSL_GUARDED_BY(writer_mutex_) = 0;
  // The rows of the model that answered before, as of previous_commit_; null if
  // there are none.
  std::shared_ptr<ModelRows> previous_rows_ ABSL_GUARDED_BY(writer_mutex_);
  CommitNumber previous_commit_ ABSL_GUARDED_BY(writer_mutex_) = 0;
  std::vector<std::uint32_t> free_slots_ ABSL_GUARDED_BY(writer_mutex_);
  // The removed slots that are not free yet, sorted by their deleted_commit.
  struct Removed {
    CommitNumber commit;
    std::uint32_t slot;
  };
  std::deque<Removed> removed_ ABSL_GUARDED_BY(writer_mutex_);
  // Counts the documents of current and of removed slots.
  TagSets tag_sets_ ABSL_GUARDED_BY(writer_mutex_);
  std::size_t record_bytes_ ABSL_GUARDED_BY(writer_mutex_) = 0;

  mutable Mutex stats_mutex_;
  Stats stats_ ABSL_GUARDED_BY(stats_mutex_);
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_STORE_DOCUMENT_CATALOG_H_
