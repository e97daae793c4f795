// The log of the documents that servers have put into a store which they share,
// or deleted from it: how each of them learns of the others' changes.
//
//   Order     that of the changes. An acknowledged change has its entry.
//   Position  an entry of the log, as text of the store. A reader keeps its
//             own; the log knows nothing of its readers.
//   Bounded   the oldest entries are dropped. A position that is dropped, or
//             that a store which lost data never had, is OutOfRange: changes
//             may have been missed, and only the documents themselves show
//             which (DocumentStore::LoadDocuments, after MarkEnd).
//   Threads   one at a time.
//   Errors    as DocumentStore.
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

// Owns what DocumentKeyView views.
using DocumentKey = std::variant<std::uint64_t, std::string>;

inline DocumentKeyView ViewOf(const DocumentKey& key) {
  return std::visit([](const auto& value) { return DocumentKeyView(value); },
                    key);
}

class ChangeLog {
 public:
  struct Changes {
    std::vector<DocumentKey> keys;  // in order; some more than once
    std::string position;           // after them
    bool at_end = true;             // false = there are more
  };

  virtual ~ChangeLog() = default;

  // Appends an entry without a change, and returns its position.
  virtual absl::StatusOr<std::string> MarkEnd() = 0;
  // What follows `position`, a part of it if it is much. If nothing does, waits
  // for it, for `max_wait` at most; then there are no keys.
  virtual absl::StatusOr<Changes> ReadAfter(const std::string& position,
                                            absl::Duration max_wait) = 0;
  // Visits, by their i, the documents that have keys[i] now; null = there is
  // none. DataLoss for a damaged one, after the others were visited.
  virtual absl::Status FindDocuments(
      std::span<const DocumentKey> keys,
      const std::function<void(std::size_t, const StoredDocument*)>& visit) = 0;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_STORES_CHANGE_LOG_H_
