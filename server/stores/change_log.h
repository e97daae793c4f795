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
#ifndef SEMRANK_SERVER_STORES_CHANGE_LOG_H_
#define SEMRANK_SERVER_STORES_CHANGE_LOG_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/stores/document_store.h"

namespace semrank {

// A DocumentKeyView that owns its text.
using DocumentKey = std::variant<std::uint64_t, std::string>;

inline DocumentKeyView ViewOf(const DocumentKey& key) {
  return std::visit([](const auto& value) { return DocumentKeyView(value); },
                    key);
}

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

  // Appends an entry without a change and returns its position.
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

}  // namespace semrank

#endif  // SEMRANK_SERVER_STORES_CHANGE_LOG_H_
