// Puts documents into the catalog and deletes them: checks, embeds in batches,
// writes to the store if there is one, and then makes the change visible.
//
//   Promise  when a put is done its documents are found, and the store has
//            them. On an error of the store nothing is put.
//   Work     is done in slices (work_slice.h). Titles go straight through the
//            document tower: the vector cache is left to what callers send.
//   Threads  all methods are thread-safe, but one put runs one slice at a time.
//            Puts embed concurrently and commit one after the other.
//   Errors   an error of one document is a problem of its own. InvalidArgument,
//            DeadlineExceeded and Cancelled fail the call, and nothing is put.
#ifndef SEMRANK_SERVER_CATALOG_SYNC_CATALOG_WRITER_H_
#define SEMRANK_SERVER_CATALOG_SYNC_CATALOG_WRITER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/base/caller.h"
#include "server/base/limits.h"
#include "server/base/metrics.h"
#include "server/base/text_checks.h"
#include "server/base/work_slice.h"
#include "server/catalog/store/document_catalog.h"
#include "server/stores/document_store.h"
#include "server/vectors/text_embedder.h"

namespace semrank {

// A document as the client sends it.
struct NewDocument {
  std::optional<DocumentKeyView> key = {};
  std::string_view title = {};
  std::string_view payload = {};
  std::vector<std::string_view> tags = {};
};

struct PutResult {
  DocumentCatalog::PutCounts counts;
  std::vector<ItemProblem> problems;
  PhaseTimes times;
};

// The state of a put between two slices, initially empty.
struct PutState {
  struct ModelRows {
    ServedModelPtr model;
    std::vector<float> rows;
  };
  bool begun = false;
  std::size_t next_document = 0;
  // The documents without a problem.
  std::vector<CatalogRecord::Pointer> records;
  // The vectors of the first num_embedded records, by each model of the
  // catalog.
  std::vector<ModelRows> models;
  std::size_t num_embedded = 0;
};

class CatalogWriter {
 public:
  // All pointers must outlive the writer.
  struct Options {
    Limits limits = {};
    const TextEmbedder* embedder = nullptr;
    Metrics* metrics = nullptr;
    DocumentStore* store = nullptr;  // null = keep documents in memory only
  };
  CatalogWriter(DocumentCatalog* catalog, const Options& options)
      : limits_(options.limits),
        catalog_(*catalog),
        embedder_(*options.embedder),
        metrics_(*options.metrics),
        store_(options.store) {}

  // Runs one slice; `result` is complete after kDone. The reader of the request
  // limits the number of documents.
  absl::StatusOr<Progress> PutSlice(std::span<const NewDocument> documents,
                                    const Caller& caller, PutState& state,
                                    PutResult& result) const;

  // Sets found[i] to whether there was a document with keys[i], and returns how
  // many there were.
  absl::StatusOr<std::uint32_t> Delete(std::span<const DocumentKeyView> keys,
                                       std::vector<bool>& found) const;

  const DocumentCatalog& catalog() const { return catalog_; }

 private:
  absl::Status CheckDocument(const NewDocument& document, std::size_t i) const;
  // Checks a slice of documents from state.next_document on, and copies them.
  void AddRecords(std::span<const NewDocument> documents, PutState& state,
                  PutResult& result) const;
  absl::Status EmbedRecords(const Caller& caller, PutState& state,
                            PutResult& result) const;
  absl::Status Commit(PutState& state, PutResult& result) const;
  absl::Status WriteToStore(const PutState& state) const;

  const Limits limits_;
  DocumentCatalog& catalog_;
  const TextEmbedder& embedder_;
  Metrics& metrics_;
  DocumentStore* const store_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_SYNC_CATALOG_WRITER_H_
