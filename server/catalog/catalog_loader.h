// Fills the catalog with the documents of a store, when a server starts.
//
//   Vectors  of the catalog's model are taken as they are; documents that the
//            store has with another model's, or none, are embedded, and then
//            written back, so that the next start need not.
//   Threads  one, before the catalog serves.
#ifndef SEMRANK_SERVER_CATALOG_CATALOG_LOADER_H_
#define SEMRANK_SERVER_CATALOG_CATALOG_LOADER_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "server/catalog/document_catalog.h"
#include "server/stores/document_store.h"
#include "server/vectors/text_embedder.h"

namespace semrank {

class CatalogLoader {
 public:
  struct Counts {
    std::int64_t num_documents = 0;
    std::int64_t num_embedded = 0;  // of these
  };

  // All outlive the loader. The catalog has its model and no document.
  CatalogLoader(DocumentStore* store, const TextEmbedder* embedder,
                DocumentCatalog* catalog);

  // The store's error, ResourceExhausted when the catalog cannot hold them all.
  // `stop`, which may be null, is asked now and then; true makes it Cancelled.
  absl::StatusOr<Counts> Load(const std::function<bool()>& stop = nullptr);

 private:
  absl::Status CheckStop() const;
  absl::Status Add(const StoredDocument& document);
  // The documents gathered go into the catalog.
  absl::Status Flush();
  absl::Status EmbedMissing();
  absl::Status WriteBack() const;

  DocumentStore& store_;
  const TextEmbedder& embedder_;
  DocumentCatalog& catalog_;
  const ServedModelPtr served_;
  std::function<bool()> stop_;
  Counts counts_;
  std::vector<CatalogRecord::Pointer> records_;
  std::vector<float> rows_;
  std::vector<std::size_t> missing_;  // records without a row
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_CATALOG_LOADER_H_
