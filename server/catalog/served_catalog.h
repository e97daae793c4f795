// The catalog and those who work on it, as a server has them.
#ifndef SEMRANK_SERVER_CATALOG_SERVED_CATALOG_H_
#define SEMRANK_SERVER_CATALOG_SERVED_CATALOG_H_

#include <cstddef>
#include <functional>

#include "server/catalog/catalog_loader.h"
#include "server/catalog/catalog_model_update.h"
#include "server/catalog/catalog_searcher.h"
#include "server/catalog/catalog_writer.h"
#include "server/catalog/document_catalog.h"

namespace semrank {

class ServedCatalog {
 public:
  // `embedder`, `metrics` and `store`, which may be null, must outlive it.
  ServedCatalog(const Limits& limits, std::size_t max_documents,
                const TextEmbedder* embedder, Metrics* metrics,
                DocumentStore* store = nullptr)
      : documents(max_documents),
        writer(limits, &documents, embedder, metrics, store),
        searcher(limits, &documents, embedder, metrics),
        update(&documents, embedder, store),
        embedder_(embedder),
        store_(store) {}

  // Fills the empty catalog, which has its model, from the store. `stop` as
  // CatalogLoader has it.
  absl::StatusOr<CatalogLoader::Counts> Load(
      const std::function<bool()>& stop = nullptr) {
    if (store_ == nullptr) return CatalogLoader::Counts{};
    return CatalogLoader(store_, embedder_, &documents).Load(stop);
  }

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
