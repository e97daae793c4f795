// The number of connections that the limit on open files allows the gRPC port.
#ifndef SEMRANK_SERVER_OPEN_FILES_H_
#define SEMRANK_SERVER_OPEN_FILES_H_

#include <cstdint>

#include "absl/status/statusor.h"

namespace semrank {

// Raises the soft limit on open files (ulimit -n) to the hard one. Call it
// before the server opens files.
void RaiseOpenFileLimit();

// The number of files that may be open at once.
std::int64_t OpenFileLimit();

// The value of --max_connections, given its value `requested`; 0 = the default
// of Limits, or fewer if `open_files` do not suffice for it. FlagError when
// they do not suffice for `requested`.
absl::StatusOr<std::int64_t> MaxConnections(std::int64_t requested,
                                            std::int64_t open_files);

// Logs that the limit on open files has reduced the default of
// --max_connections to `max_connections`, if it has.
void WarnAboutFewConnections(std::int64_t max_connections);

}  // namespace semrank

#endif  // SEMRANK_SERVER_OPEN_FILES_H_
