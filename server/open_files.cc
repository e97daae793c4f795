#include "server/open_files.h"

#include <sys/resource.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_format.h"
#include "model/base/count_text.h"
#include "model/cli/exit_code.h"
#include "server/base/limits.h"
#include "server/base/logging.h"

namespace semrank {
namespace {

// The socket, and a duplicate by which connection_listener notices its end.
constexpr std::int64_t kFilesPerConnection = 2;
// HTTP (192 connections), health checks (64), models, a store, a log, threads.
constexpr std::int64_t kOtherFiles = 512;

// When few files are allowed, half of them remain for other uses.
std::int64_t ConnectionsWithin(std::int64_t open_files) {
  const std::int64_t others = std::min(kOtherFiles, open_files / 2);
  return std::max<std::int64_t>((open_files - others) / kFilesPerConnection, 1);
}

}  // namespace

// The soft limit is often 1,024, for programs that use select(2); the
// administrator sets the hard one. A failure only means fewer connections.
void RaiseOpenFileLimit() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

std::int64_t OpenFileLimit() {
  constexpr rlim_t kMany = 1 << 30;  // the kernel's own limit
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return kMany;
  return static_cast<std::int64_t>(std::min(limit.rlim_cur, kMany));
}

absl::StatusOr<std::int64_t> MaxConnections(std::int64_t requested,
                                            std::int64_t open_files) {
  const std::int64_t most = ConnectionsWithin(open_files);
  // The default is reduced. A request of the operator is refused instead, so
  // that no user relies on connections that do not fit.
  if (requested == 0) return std::min(Limits().max_connections, most);
  if (requested <= most) return requested;
  return FlagError(
      "max_connections", std::to_string(requested),
      absl::StrFormat("the limit of %d open files (ulimit -n) has room for %d",
                      open_files, most));
}

void WarnAboutFewConnections(std::int64_t max_connections) {
  const std::int64_t wanted = Limits().max_connections;
  if (max_connections >= wanted) return;
  LogWarning(
      "at most %s at once instead of %s (--max_connections): the limit on open "
      "files is %s (ulimit -n)",
      CountText(max_connections, "connection"), GroupDigits(wanted),
      GroupDigits(OpenFileLimit()));
}

}  // namespace semrank
