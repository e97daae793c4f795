// The catalog, and the parts of the server that read, write and update it.
#ifndef SEMRANK_SERVER_CATALOG_SERVED_CATALOG_H_
#define SEMRANK_SERVER_CATALOG_SERVED_CATALOG_H_

#include <cstddef>
#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "server/catalog/catalog_model_update.h"
#include "server/catalog/catalog_searcher.h"
#include "server/catalog/catalog_writer.h"
#include "server/catalog/document_catalog.h"

namespace semrank {

class ServedCatalog {
 public:
  struct LoadCounts {
    std::int64_t num_documents = 0;
    std::int64_t num_embedded = 0;  // of these
  };

  // What `options` points to outlives the catalog.
  ServedCatalog(std::size_t max_documents,
                const CatalogWriter::Options& options)
      : documents(max_documents),
        writer(&documents, options),
        searcher(options.limits, &documents, options.embedder, options.metrics),
        update(&documents, options.embedder, options.store),
        embedder_(options.embedder),
        store_(options.store) {}

  // Fills the empty catalog, which has its model, from the store; before the
  // catalog serves. The store's error; ResourceExhausted when the catalog
  // cannot hold them all; Cancelled once `stop`, which may be null, returns
  // true.
  absl::StatusOr<LoadCounts> Load(const std::function<bool()>& stop = nullptr);

  DocumentCatalog documents;
  CatalogWriter writer;
  CatalogSearcher searcher;
  CatalogModelUpdate update;

 private:
  const TextEmbedder* const embedder_;
  DocumentStore* const store_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_SERVED_CATALOG_H_
