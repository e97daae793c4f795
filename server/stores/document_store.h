// A store that outlives the memory of one server. It keeps vectors of texts, so
// that a restart or another replica need not compute them again, and the
// documents of the catalog.
//
//   Vectors    belong to a model's identity (the SHA-256 of its manifest, never
//              a number of this process), a side and a normalised text. A store
//              may lose them, since they can be computed again, but never
//              returns one of another model, side or text.
//   Documents  survive a crash once the call that writes them has returned OK,
//              also a crash of the machine where the store says so.
//   Secret     texts are known to a store by their 128-bit fingerprint under a
//              secret that is kept in the store, so that restarts and replicas
//              agree and no client can construct two texts that collide.
//   Threads    all methods are thread-safe.
//   Errors     name the store. DeadlineExceeded: the call took longer than it
//              may. Unavailable: the store cannot be reached; trying later
//              helps. ResourceExhausted: no room. DataLoss: the content is
//              damaged.
#ifndef SEMRANK_SERVER_STORES_DOCUMENT_STORE_H_
#define SEMRANK_SERVER_STORES_DOCUMENT_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "model/nn/two_tower_model.h"

namespace semrank {

// The vectors of texts of one side under one model.
struct VectorSpace {
  std::string_view model;  // ModelVersion::identity
  Side side = Side::kDocument;
  int dim = 0;
};

// As in the API, numbers and names are distinct: 7 and "7" are two documents.
using DocumentKeyView = std::variant<std::uint64_t, std::string_view>;

// A DocumentKeyView that owns its text.
using DocumentKey = std::variant<std::uint64_t, std::string>;

inline DocumentKeyView ViewOf(const DocumentKey& key) {
  return std::visit([](const auto& value) { return DocumentKeyView(value); },
                    key);
}

// A document as it is written and read. The views are valid during the call.
struct StoredDocument {
  DocumentKeyView key;
  std::string_view title = {};
  std::string_view payload = {};
  // The title's vector and the identity of its model; empty = none.
  std::string_view model = {};
  std::span<const float> vector = {};
  // The tags as the catalog packs them; a store returns the same bytes.
  std::string_view packed_tags = {};
};

// The log of the documents that servers have put into a shared store or deleted
// from it. Each server reads the changes of the others from it.
//
//   Order     the order of the changes. Every acknowledged change has its
//             entry.
//   Position  an entry of the log, as text of the store. A reader keeps its
//             own; the log does not know its readers.
//   Bounded   the oldest entries are dropped. A position that was dropped, or
//             that a store which lost data never had, is OutOfRange: changes
//             may have been missed, and only reading all documents shows which
//             (DocumentStore::LoadDocuments, after MarkEnd).
//   Threads   one thread at a time.
//   Errors    those of DocumentStore.
class ChangeLog {
 public:
  struct Changes {
    std::vector<DocumentKey> keys;  // in order; may repeat
    std::string position;           // the position after them
    bool at_end = true;             // false = there are more changes
  };

  // Gets the index of a key and its document; null = there is none.
  using VisitFound = std::function<void(std::size_t, const StoredDocument*)>;

  virtual ~ChangeLog() = default;

  // Returns the position of the last entry; may append one without a change.
  virtual absl::StatusOr<std::string> MarkEnd() = 0;
  // Reads some or all of the changes after `position`. If there are none, waits
  // for one, at most `max_wait`; then there may be no keys.
  virtual absl::StatusOr<Changes> ReadAfter(const std::string& position,
                                            absl::Duration max_wait) = 0;
  // Visits the document of each of `keys`. Skips damaged ones, and then returns
  // DataLoss.
  virtual absl::Status FindDocuments(std::span<const DocumentKey> keys,
                                     const VisitFound& visit) = 0;
};

class DocumentStore {
 public:
  struct Found {
    int num_found = 0;
    // The number of damaged values, which count as not found.
    int num_refused = 0;
  };

  using VisitDocument = std::function<absl::Status(const StoredDocument&)>;

  virtual ~DocumentStore() = default;

  // The name for logs and pages, such as "rocksdb:/data/store" or
  // "redis://host:6379/0"; never has a password.
  virtual const std::string& name() const = 0;

  // Sets found[i] to 1 and row i of the row-major `rows` [texts.size(),
  // space.dim] to the vector of text i, if that is known; else sets found[i] to
  // 0 and leaves the row unchanged. Finds all of them in one call, within
  // `time_limit`; on an error none is found. Without texts it only checks that
  // the store answers.
  virtual absl::StatusOr<Found> FindVectors(
      const VectorSpace& space,
      std::span<const std::string_view> normalized_texts,
      absl::Duration time_limit, float* rows,
      std::span<std::uint8_t> found) = 0;
  // Writes row i of `rows`, as above, as the vector of text i. A crash may lose
  // it.
  virtual absl::Status WriteVectors(
      const VectorSpace& space,
      std::span<const std::string_view> normalized_texts,
      const float* rows) = 0;

  // Puts documents, replacing those with the same keys; of equal keys the last
  // one stays. Puts all or none where the store can; otherwise an error may
  // leave any of them.
  virtual absl::Status PutDocuments(
      std::span<const StoredDocument> documents) = 0;
  // Replaces only the vectors of documents that still have the same title,
  // payload and tags; leaves alone what another server has put since. In a
  // store of one server the caller knows that they are the same.
  virtual absl::Status ReplaceVectors(
      std::span<const StoredDocument> documents) {
    return PutDocuments(documents);
  }
  // Deletes documents; unknown keys are not errors.
  virtual absl::Status DeleteDocuments(
      std::span<const DocumentKeyView> keys) = 0;
  // Visits every document, in any order, some possibly twice; an error of
  // `visit` ends it and is returned. Returns DataLoss, with the key, for a
  // damaged document. May or may not see concurrent puts and deletes.
  virtual absl::Status LoadDocuments(const VisitDocument& visit) = 0;

  // Opens the log of the changes by any server. Returns null for a store of one
  // server. The store must outlive the log.
  virtual std::unique_ptr<ChangeLog> OpenChangeLog() { return nullptr; }

 protected:
  // Prefixes an error with the store's name; OK stays OK.
  absl::Status Named(const absl::Status& status) const {
    if (status.ok()) return status;
    return {status.code(), absl::StrCat(name(), ": ", status.message())};
  }
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_STORES_DOCUMENT_STORE_H_
