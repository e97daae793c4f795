// The catalog, and the parts of the server that read, write and update it.
#ifndef SEMRANK_SERVER_CATALOG_SERVED_CATALOG_H_
#define SEMRANK_SERVER_CATALOG_SERVED_CATALOG_H_

#include <cstddef>

#include "server/catalog/catalog_model_update.h"
#include "server/catalog/catalog_reconciler.h"
#include "server/catalog/catalog_searcher.h"
#include "server/catalog/catalog_writer.h"
#include "server/catalog/document_catalog.h"

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

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_SERVED_CATALOG_H_
