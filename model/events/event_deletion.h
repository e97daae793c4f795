// Finds a user's records, and removes them from a folder of events.
#ifndef SEMRANK_MODEL_EVENTS_EVENT_DELETION_H_
#define SEMRANK_MODEL_EVENTS_EVENT_DELETION_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "model/data/input_lines.h"
#include "model/events/event.h"

namespace semrank {

// The records of one user: the lists that were shown to the user, and the
// events on them. Finding them takes two passes, since an event may precede its
// impression.
//
//   Memory   the ids of the user's impressions.
//   Threads  not thread-safe.
class UserRecords {
 public:
  // `user_hash` is the user as impressions have it (keyed_hash.h).
  explicit UserRecords(std::string user_hash)
      : user_hash_(std::move(user_hash)) {}

  // The first pass: notes the impressions of the user.
  void Note(const EventRecord& record);
  // The second pass: whether the record is one of the user.
  bool Has(const EventRecord& record) const;
  bool empty() const { return impressions_.empty(); }

 private:
  const std::string user_hash_;
  absl::flat_hash_set<std::string> impressions_;  // ids
};

struct DeletedRecords {
  std::int64_t impressions = 0;
  std::int64_t events = 0;
  std::int64_t files = 0;  // rewritten or removed

  void Count(const EventRecord& record) {
    ++(std::holds_alternative<Event>(record) ? events : impressions);
  }
};

// Removes the impressions of `user`, as the application named it, and the
// events that belong to them. Each file that has some is replaced atomically,
// under its name, or removed if no record remains. An interrupted call can be
// repeated: it removes the impressions last.
//
//   Time     reads the folder twice, then each file with such records up to
//            twice.
//   Errors   FailedPrecondition while a server writes in the folder: its file
//            cannot be replaced. NotFound if the folder has no key. The errors
//            of EventFileReader: what cannot be read cannot be searched. Bad
//            lines that `max_bad_lines` allows are dropped from the files that
//            are written anew.
absl::StatusOr<DeletedRecords> DeleteUser(const std::string& folder,
                                          std::string_view user,
                                          const BadLineLimit& max_bad_lines);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVENTS_EVENT_DELETION_H_
