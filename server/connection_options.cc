#include "server/connection_options.h"

#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include <algorithm>
#include <string>

#include "absl/flags/flag.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/cli/program.h"
#include "server/base/limits.h"
#include "server/option_checks.h"

ABSL_FLAG(
    std::int64_t, max_connections, 0,
    "Connections at once over gRPC; a further one is closed. 0 = 8192, or "
    "fewer where the limit on open files (ulimit -n) has no room for "
    "them: each takes two, and up to 512 are left for all else.");

namespace semrank {
namespace {

constexpr std::int64_t kFilesPerConnection = 2;
// HTTP (192 connections), health checks (64), models, a store, a log, threads.
constexpr std::int64_t kOtherFiles = 512;

}  // namespace

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

std::int64_t ConnectionsWithin(std::int64_t open_files) {
  const std::int64_t others = std::min(kOtherFiles, open_files / 2);
  return std::max<std::int64_t>((open_files - others) / kFilesPerConnection, 1);
}

absl::StatusOr<std::int64_t> MaxConnections(std::int64_t asked,
                                            std::int64_t open_files) {
  constexpr std::int64_t kMost = 1'000'000;
  SEMRANK_RETURN_IF_ERROR(CheckRange("max_connections", asked, 0, kMost));
  const std::int64_t most = ConnectionsWithin(open_files);
  if (asked == 0) return std::min(Limits().max_connections, most);
  if (asked <= most) return asked;
  return FlagError(
      "max_connections", std::to_string(asked),
      absl::StrFormat("the limit of %d open files (ulimit -n) has room for %d",
                      open_files, most));
}

absl::StatusOr<std::int64_t> MaxConnectionsFromFlags() {
  return MaxConnections(absl::GetFlag(FLAGS_max_connections), OpenFileLimit());
}

void WarnOfFewConnections(std::int64_t max_connections) {
  const std::int64_t wanted = Limits().max_connections;
  if (max_connections >= wanted || absl::GetFlag(FLAGS_max_connections) != 0) {
    return;
  }
  spdlog::warn(
      "at most {} connections at once instead of {} (--max_connections): the "
      "limit on open files is {} (ulimit -n)",
      max_connections, wanted, OpenFileLimit());
}

}  // namespace semrank
