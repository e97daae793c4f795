// Removes a user's records from a folder of events.
#ifndef SEMRANK_MODEL_EVENTS_EVENT_DELETION_H_
#define SEMRANK_MODEL_EVENTS_EVENT_DELETION_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "model/data/input_lines.h"

namespace semrank {

struct DeletedRecords {
  std::int64_t impressions = 0;
  std::int64_t events = 0;
  std::int64_t files = 0;  // that were written anew or removed
};

// Removes the impressions of `user`, as the application named it, and the
// events that belong to them. Each file that has some is replaced atomically,
// under its name, or removed if nothing is left. An interrupted call can be
// repeated.
//
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
