// The catalog, the parts of the server that read, write and update it, and what
// keeps it with the default model.
#ifndef SEMRANK_SERVER_CATALOG_SYNC_SERVED_CATALOG_H_
#define SEMRANK_SERVER_CATALOG_SYNC_SERVED_CATALOG_H_

#include <cstddef>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "server/base/periodic_task.h"
#include "server/catalog/search/catalog_searcher.h"
#include "server/catalog/store/document_catalog.h"
#include "server/catalog/sync/catalog_model_update.h"
#include "server/catalog/sync/catalog_reconciler.h"
#include "server/catalog/sync/catalog_writer.h"
#include "server/models/model_store.h"

namespace semrank {

struct ServedCatalog {
  // What `options` points to outlives the catalog.
  ServedCatalog(std::size_t max_documents,
                const CatalogWriter::Options& options)
      : documents(max_documents),
        writer(&documents, options),
        searcher(options.limits, &documents, options.embedder, options.metrics),
        update(&documents, options.embedder, options.store),
        reconciler(&documents, options.embedder, options.store) {}

  DocumentCatalog documents;
  CatalogWriter writer;
  CatalogSearcher searcher;
  CatalogModelUpdate update;
  CatalogReconciler reconciler;
};

// Fills the catalog from its store and keeps it with the default model: looks
// ten times a second whether that is another one, and then has the documents
// embedded anew, in a thread of its own.
class CatalogFollower {
 public:
  // Both outlive the follower; there is a model. When this returns the catalog
  // has it, and the documents of the store. The store's error; Cancelled once
  // `stop` says so.
  static absl::StatusOr<std::unique_ptr<CatalogFollower>> Start(
      const ModelStore* models, ServedCatalog* catalog,
      const std::function<bool()>& stop);
  // Gives a model up that is on its way.
  ~CatalogFollower();
  CatalogFollower(const CatalogFollower&) = delete;
  CatalogFollower& operator=(const CatalogFollower&) = delete;

 private:
  CatalogFollower(const ModelStore* models, ServedCatalog* catalog)
      : models_(*models), catalog_(*catalog) {}
  void Follow();

  const ModelStore& models_;
  ServedCatalog& catalog_;
  absl::Status logged_;  // of the store, as it was logged last
  std::unique_ptr<PeriodicTask> task_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_SYNC_SERVED_CATALOG_H_
