// The catalog with everything that reads and writes it, kept in sync with the
// document store, with the changes of other servers, and with the default
// model.
#ifndef SEMRANK_SERVER_CATALOG_SYNC_SYNCED_CATALOG_H_
#define SEMRANK_SERVER_CATALOG_SYNC_SYNCED_CATALOG_H_

#include <cstddef>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "server/base/periodic_task.h"
#include "server/catalog/search/catalog_searcher.h"
#include "server/catalog/store/document_catalog.h"
#include "server/catalog/sync/catalog_model_update.h"
#include "server/catalog/sync/catalog_reconciler.h"
#include "server/catalog/sync/catalog_writer.h"
#include "server/catalog/sync/change_follower.h"
#include "server/models/model_store.h"

namespace semrank {

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

  // Null when the store has no log of changes that other servers write too.
  const ChangeFollower* changes() const { return changes_.get(); }

  DocumentCatalog documents;
  CatalogWriter writer;
  CatalogSearcher searcher;
  CatalogModelUpdate update;
  CatalogReconciler reconciler;

 private:
  void FollowModel(const ModelStore& models);

  const std::unique_ptr<ChangeFollower> changes_;
  absl::Status logged_;  // the store's status, as it was logged last
  std::unique_ptr<PeriodicTask> model_watch_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_SYNC_SYNCED_CATALOG_H_
