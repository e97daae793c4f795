// The catalog with everything that reads and writes it, kept in sync with the
// document store, with the changes of other servers, and with the default
// model.
#ifndef SEMRANK_SERVER_CATALOG_SYNC_SYNCED_CATALOG_H_
#define SEMRANK_SERVER_CATALOG_SYNC_SYNCED_CATALOG_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/caller.h"
#include "server/base/periodic_task.h"
#include "server/catalog/search/catalog_searcher.h"
#include "server/catalog/store/document_catalog.h"
#include "server/catalog/sync/catalog_reconciler.h"
#include "server/catalog/sync/catalog_writer.h"
#include "server/catalog/sync/change_follower.h"
#include "server/models/model_store.h"
#include "server/models/served_model.h"
#include "server/stores/document_store.h"
#include "server/vectors/text_embedder.h"

namespace semrank {

// Moves the catalog to another model: embeds every document again, beside the
// old vectors, which answer until the new ones are complete.
//
//   Work     in the calling thread, 256 documents at a time. Documents that are
//            put in the meantime bring both models' vectors. A rollback to the
//            previous model embeds only what was put since.
//   Store    gets new vectors as they are computed, so that the next start
//            finds them; vectors that a rollback found in memory follow once
//            the model answers. If the store refuses some, the update continues
//            without it, since they can be computed again.
//   Threads  one thread calls Follow and store_status; the other methods are
//            thread-safe.
class CatalogModelUpdate final : private Caller {
 public:
  struct Status {
    // How many documents the next model has embedded, and how many it must
    // embed; 0 and 0 without a next model.
    std::uint64_t num_embedded = 0;
    std::uint64_t num_documents = 0;
  };

  // All pointers must outlive the update; `store` may be null.
  CatalogModelUpdate(DocumentCatalog* catalog, const TextEmbedder* embedder,
                     DocumentStore* store = nullptr)
      : catalog_(*catalog), embedder_(*embedder), store_(store) {}

  // Returns once the catalog answers with the model current(), which may change
  // in the meantime; null = with whatever it has. Returns Cancelled after Stop.
  // After any error the old model still answers.
  absl::Status Follow(const std::function<ServedModelPtr()>& current);
  // OK if the store has all vectors of the last update, else its error.
  const absl::Status& store_status() const { return store_status_; }
  // Cancels this and all later calls of Follow.
  void Stop() { stop_ = true; }

  Status GetStatus() const { return {num_embedded_, num_documents_}; }

 private:
  absl::Time deadline() const override { return absl::InfiniteFuture(); }
  bool cancelled() const override { return stop_; }

  // Returns false when current() has changed.
  absl::StatusOr<bool> Embed(const ServedModelPtr& model,
                             const std::function<ServedModelPtr()>& current);
  // Returns the slots of the next batch of documents from slot `first` on whose
  // created_commit is `wanted`, and sets `first` to the slot after them.
  std::vector<std::uint32_t> NextBatch(
      const CatalogSnapshot& snapshot, std::size_t& first,
      const std::function<bool(CommitNumber created)>& wanted) const;
  absl::Status EmbedBatch(const ServedModelPtr& model,
                          const CatalogSnapshot& snapshot,
                          std::span<const std::uint32_t> slots);
  // Writes the vectors that were kept since `commit`, and so were not embedded,
  // to the store. Returns early when current() changes.
  absl::Status WriteKept(CommitNumber commit,
                         const std::function<ServedModelPtr()>& current);
  void WriteToStore(const CatalogSnapshot& snapshot, const ServedModel& served,
                    std::span<const std::uint32_t> slots, const float* rows,
                    std::span<const std::size_t> current_slots);

  DocumentCatalog& catalog_;
  const TextEmbedder& embedder_;
  DocumentStore* const store_;
  absl::Status store_status_;
  std::atomic<bool> stop_ = false;
  std::atomic<std::uint64_t> num_embedded_ = 0;
  std::atomic<std::uint64_t> num_documents_ = 0;
};

class SyncedCatalog {
 public:
  // Everything that `options` points to must outlive the catalog.
  SyncedCatalog(std::size_t max_documents,
                const CatalogWriter::Options& options);
  ~SyncedCatalog() { Stop(); }
  SyncedCatalog(const SyncedCatalog&) = delete;
  SyncedCatalog& operator=(const SyncedCatalog&) = delete;

  // Loads the documents of the store and begins to follow the changes of other
  // servers and the default model of `models`, which has one and outlives the
  // catalog. Another default model is noticed within 100 ms; its vectors are
  // then computed in a thread of the catalog. Returns the store's error, or
  // Cancelled once `stop` returns true.
  absl::Status Start(const ModelStore* models,
                     const std::function<bool()>& stop);
  // Stops following, and cancels the update to a new model. May be called
  // without Start, and again.
  void Stop();

  // Moves the catalog to the default model of `models`, unless that has failed
  // in the last 10 s. Start lets a thread call it every 100 ms; without Start,
  // one thread at a time may.
  void FollowModel(const ModelStore& models);

  // Null when the store has no log of changes that other servers write too.
  const ChangeFollower* changes() const { return changes_.get(); }

  DocumentCatalog documents;
  CatalogWriter writer;
  CatalogSearcher searcher;
  CatalogModelUpdate update;
  CatalogReconciler reconciler;

 private:
  const std::unique_ptr<ChangeFollower> changes_;
  absl::Status logged_;          // the store's status, as it was logged last
  ServedModelPtr failed_model_;  // null = the last update has succeeded
  absl::Time failed_at_;
  std::unique_ptr<PeriodicTask> model_watch_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_SYNC_SYNCED_CATALOG_H_
