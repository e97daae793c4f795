// What outlives the memory of one server: vectors of texts, so that a restart
// or another replica need not compute them again, and the documents of the
// catalog.
//
//   Vectors    belong to a model's identity (the SHA-256 of its manifest, never
//              a number of this process), a side and a normalised text. They
//              can be computed again: a store may lose them, but never hands
//              out one of another model, side or text.
//   Documents  are the catalog's: once a call that writes them has returned OK
//              they survive a crash, of the machine too where the store says
//              so.
//   Secret     texts are known to a store by their 128-bit fingerprint under a
//              secret that lives inside the store, so that restarts and
//              replicas agree and no client can make two texts collide.
//   Threads    every method, from any thread.
//   Errors     name the store. DeadlineExceeded: it took longer than it may.
//              Unavailable: it cannot be reached; trying later helps.
//              ResourceExhausted: no room. DataLoss: what it holds is damaged.
#ifndef SEMRANK_SERVER_STORES_DOCUMENT_STORE_H_
#define SEMRANK_SERVER_STORES_DOCUMENT_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "model/nn/two_tower_model.h"

namespace semrank {

class ChangeLog;  // change_log.h

// Whose vectors: texts of one side in one model.
struct VectorSpace {
  std::string_view model;  // ModelVersion::identity
  Side side = Side::kDocument;
  int dim = 0;
};

// As in the API, numbers and names are apart: 7 and "7" are two documents.
using DocumentKeyView = std::variant<std::uint64_t, std::string_view>;

// A document as it is written and read: views, valid for the call.
struct StoredDocument {
  DocumentKeyView key;
  std::string_view title = {};
  std::string_view payload = {};
  // The title's vector and the identity of the model that made it; empty =
  // none.
  std::string_view model = {};
  std::span<const float> vector = {};
  // The catalog's tags; a store gives the bytes back as they are.
  std::string_view packed_tags = {};
};

class DocumentStore {
 public:
  struct Found {
    int num_found = 0;
    // Values that were there and are not what this store writes: counted as
    // not found.
    int num_refused = 0;
  };

  virtual ~DocumentStore() = default;

  // For logs and pages: "rocksdb:/data/store", "redis://host:6379/0"; never a
  // password.
  virtual const std::string& name() const = 0;

  // For each text that is known: its vector becomes row i of `rows`, row-major
  // [texts.size(), space.dim], and found[i] 1; the others' rows are left alone
  // and found[i] becomes 0. All of them in one call, within `time_limit`; on an
  // error none is found. Without texts it tells whether the store answers.
  virtual absl::StatusOr<Found> FindVectors(
      const VectorSpace& space,
      std::span<const std::string_view> normalized_texts,
      absl::Duration time_limit, float* rows,
      std::span<std::uint8_t> found) = 0;
  // Row i of `rows`, as above, is the vector of text i. May be lost in a crash.
  virtual absl::Status WriteVectors(
      const VectorSpace& space,
      std::span<const std::string_view> normalized_texts,
      const float* rows) = 0;

  // Keeps documents, each in the place of one with the same key: all or none
  // where the store can, and on an error any of them may be kept. The last of
  // equal keys stays.
  virtual absl::Status PutDocuments(
      std::span<const StoredDocument> documents) = 0;
  // Keeps the vectors of documents that are there with the same title, payload
  // and tags; what another server has put since is left as it is. In a store of
  // one server the caller knows that they are the same.
  virtual absl::Status ReplaceVectors(
      std::span<const StoredDocument> documents) {
    return PutDocuments(documents);
  }
  // Unknown keys are no error.
  virtual absl::Status DeleteDocuments(
      std::span<const DocumentKeyView> keys) = 0;
  // Visits every document, in no order and some perhaps twice; an error of
  // `visit` ends it and is returned. DataLoss for a damaged document, naming
  // its key. Concurrent puts and deletes may be seen or not.
  virtual absl::Status LoadDocuments(
      const std::function<absl::Status(const StoredDocument&)>& visit) = 0;

  // Which documents are put and deleted, by any server. Null for a store of one
  // server.
  virtual std::unique_ptr<ChangeLog> OpenChangeLog() = 0;

 protected:
  // An error with the store's name in front; OK stays OK.
  absl::Status Named(const absl::Status& status) const {
    if (status.ok()) return status;
    return {status.code(), absl::StrCat(name(), ": ", status.message())};
  }
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_STORES_DOCUMENT_STORE_H_
