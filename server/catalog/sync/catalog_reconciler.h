// Makes the catalog what its store holds: all documents, or those that another
// server has changed.
//
//   Vectors  of the catalog's models are taken from the store; documents that
//            have none there are embedded.
//   Writes   beside it win: of a document that this server has put or deleted
//            since a call began, what the call read is not used. It may be
//            older; if it is newer, the log of changes has it after that write.
//   Threads  one call at a time.
//   Errors   the store's. ResourceExhausted when the catalog cannot hold them
//            all. Cancelled once `stop`, which may be null, returns true.
#ifndef SEMRANK_SERVER_CATALOG_SYNC_CATALOG_RECONCILER_H_
#define SEMRANK_SERVER_CATALOG_SYNC_CATALOG_RECONCILER_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/catalog/store/document_catalog.h"
#include "server/stores/change_log.h"
#include "server/stores/document_store.h"
#include "server/vectors/text_embedder.h"

namespace semrank {

class CatalogReconciler {
 public:
  using Stop = std::function<bool()>;
  struct Counts {
    std::int64_t num_documents = 0;  // that were read
    std::int64_t num_put = 0;        // since the catalog had others or none
    std::int64_t num_deleted = 0;
    std::int64_t num_embedded = 0;  // of those put
  };

  // All outlive the reconciler; `store` may be null. The catalog has a model.
  CatalogReconciler(DocumentCatalog* catalog, const TextEmbedder* embedder,
                    DocumentStore* store)
      : catalog_(*catalog), embedder_(*embedder), store_(store) {}

  // Fills the empty catalog, before it serves. Vectors that had to be computed
  // are written to the store, so that the next start need not.
  absl::StatusOr<Counts> Load(const Stop& stop = nullptr);
  // Puts what the store has otherwise, and deletes what it does not have.
  absl::StatusOr<Counts> Reread(const Stop& stop = nullptr);
  // The same for the documents of `keys`, which may repeat. DataLoss for a
  // damaged one, which stays as the catalog has it; the others are done.
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
