// What the log says, and how.
#ifndef SEMRANK_SERVER_LOG_OPTIONS_H_
#define SEMRANK_SERVER_LOG_OPTIONS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace semrank {

struct LogOptions {
  std::string format;                     // "text" or "json"
  absl::Duration slow_request_threshold;  // 0 = no slow-request log
};

// FlagError naming the flag.
absl::Status ValidateLogOptions(const LogOptions& options);

absl::StatusOr<LogOptions> LogOptionsFromFlags();

// "name=value" a line, as --flagfile takes it.
std::string DescribeLogOptions(const LogOptions& options);

}  // namespace semrank

#endif  // SEMRANK_SERVER_LOG_OPTIONS_H_
