// Makes the catalog equal to its store: all documents, or those that another
// server has changed.
//
//   Vectors  of the catalog's models are read from the store; documents without
//            one there are embedded.
//   Writes   by this server win: what a call has read of a document is not used
//            if this server has put or deleted that document since the call
//            began. If what was read is newer, the log of changes has it after
//            this server's write.
//   Threads  one call at a time.
//   Errors   those of the store, ResourceExhausted when the catalog cannot hold
//            all documents, or Cancelled once `stop` (null = never) returns
//            true.
#ifndef SEMRANK_SERVER_CATALOG_SYNC_CATALOG_RECONCILER_H_
#define SEMRANK_SERVER_CATALOG_SYNC_CATALOG_RECONCILER_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/catalog/store/document_catalog.h"
#include "server/stores/document_store.h"
#include "server/vectors/text_embedder.h"

namespace semrank {

class CatalogReconciler {
 public:
  using Stop = std::function<bool()>;
  struct Counts {
    std::int64_t num_documents = 0;  // read from the store
    std::int64_t num_put = 0;        // new or different in the catalog
    std::int64_t num_deleted = 0;
    std::int64_t num_embedded = 0;  // put and not found with their vectors
  };

  // All pointers must outlive the reconciler; `store` may be null. The catalog
  // must have a model when a method is called.
  CatalogReconciler(DocumentCatalog* catalog, const TextEmbedder* embedder,
                    DocumentStore* store)
      : catalog_(*catalog), embedder_(*embedder), store_(store) {}

  // Fills the empty catalog before it serves. Writes vectors that had to be
  // computed to the store, for the next start; logs an error of these writes
  // and returns OK.
  absl::StatusOr<Counts> Load(const Stop& stop = nullptr);
  // Reads all documents: puts those that differ, deletes those that the store
  // does not have.
  absl::StatusOr<Counts> Reread(const Stop& stop = nullptr);
  // The same for the documents of `keys`, which may repeat. Skips damaged ones
  // and then returns DataLoss.
  absl::StatusOr<Counts> Refresh(std::vector<DocumentKey> keys, ChangeLog& log,
                                 const Stop& stop = nullptr);

 private:
  absl::Status WriteBack(const Stop& stop) const;

  DocumentCatalog& catalog_;
  const TextEmbedder& embedder_;
  DocumentStore* const store_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_SYNC_CATALOG_RECONCILER_H_
