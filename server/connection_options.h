// How many connections the gRPC port takes: what is asked for, within what the
// system lets this process open.
#ifndef SEMRANK_SERVER_CONNECTION_OPTIONS_H_
#define SEMRANK_SERVER_CONNECTION_OPTIONS_H_

#include <cstdint>

#include "absl/status/statusor.h"

namespace semrank {

// Lets the process open as many files as it may without more rights: the soft
// limit (ulimit -n) becomes the hard one. Before anything is opened.
void RaiseOpenFileLimit();

// Files that may be open at once.
std::int64_t OpenFileLimit();

// Connections for which there is room among `open_files`: two files each, and
// what everything else may need.
std::int64_t ConnectionsWithin(std::int64_t open_files);

// `asked` 0 = the default of Limits, or fewer if there is no room for it. More
// than there is room for is a FlagError that names both.
absl::StatusOr<std::int64_t> MaxConnections(std::int64_t asked,
                                            std::int64_t open_files);

// MaxConnections of --max_connections and OpenFileLimit.
absl::StatusOr<std::int64_t> MaxConnectionsFromFlags();

// A line in the log when it is less than the default of Limits without having
// been asked for.
void WarnOfFewConnections(std::int64_t max_connections);

}  // namespace semrank

#endif  // SEMRANK_SERVER_CONNECTION_OPTIONS_H_
