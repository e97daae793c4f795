// Puts documents into the catalog and takes them out: checks, embeds in
// batches, writes to the store if there is one, and then lets readers see them.
//
//   Promise  when a put is done its documents are found, and are in the store.
//            What the store does not take is not put.
//   Work     slice by slice (work_slice.h), by the document tower alone: the
//            vector cache is left to what callers send.
//   Threads  every method, from any thread; the slices of one put one after
//            another. Embedding runs side by side, commits one by one.
//   Errors   what is wrong with one document is a problem of its own.
//            InvalidArgument for what fails the call; DeadlineExceeded and
//            Cancelled when no client waits; then nothing is put.
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

// As a caller gives it.
struct NewDocument {
  std::optional<DocumentKeyView> key = {};
  std::string_view title = {};
  std::string_view payload = {};
  std::vector<std::string_view> tags = {};
};

struct PutResult {
  DocumentCatalog::PutCounts counts;
  std::vector<ItemProblem> problems;
  ServedModelPtr model;  // that answers for them
  StageTimes times;
};

// How far a put has come between two slices; begins empty.
struct PutState {
  struct ModelRows {
    ServedModelPtr model;
    std::vector<float> rows;
  };
  bool begun = false;
  std::size_t next_document = 0;
  // Those without a problem.
  std::vector<CatalogRecord::Pointer> records;
  // The first num_embedded of them, by each model of the catalog.
  std::vector<ModelRows> models;
  std::size_t num_embedded = 0;
};

class CatalogWriter {
 public:
  // What it points to outlives the writer.
  struct Options {
    Limits limits = {};
    const TextEmbedder* embedder = nullptr;
    Metrics* metrics = nullptr;
    DocumentStore* store = nullptr;  // null = documents are in memory only
  };
  CatalogWriter(DocumentCatalog* catalog, const Options& options)
      : limits_(options.limits),
        catalog_(*catalog),
        embedder_(*options.embedder),
        metrics_(*options.metrics),
        store_(options.store) {}

  // One slice; `result` is complete after kDone. The reader of the request has
  // bounded the number of documents.
  absl::StatusOr<Progress> PutSlice(std::span<const NewDocument> documents,
                                    const Caller& caller, PutState& state,
                                    PutResult& result) const;

  // found[i] becomes whether keys[i] was there. Returns how many were.
  absl::StatusOr<std::uint32_t> Delete(std::span<const DocumentKeyView> keys,
                                       std::vector<bool>& found) const;

  const DocumentCatalog& catalog() const { return catalog_; }

 private:
  // What is wrong with document i.
  absl::Status CheckDocument(const NewDocument& document, std::size_t i) const;
  // Documents from state.next_document on, a slice of them, become records.
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
