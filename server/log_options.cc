#include "server/log_options.h"

#include "absl/flags/flag.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/cli/program.h"
#include "server/option_checks.h"

ABSL_FLAG(std::string, log_format, "text",
          "Log lines on standard error: text or json.");
ABSL_FLAG(absl::Duration, slow_request_threshold, absl::ZeroDuration(),
          "Requests that take this long or longer get a line in the log, with "
          "their request id; 0 = none.");

namespace semrank {

absl::Status ValidateLogOptions(const LogOptions& options) {
  if (options.format != "text" && options.format != "json") {
    return FlagError("log_format", options.format, "must be text or json");
  }
  return CheckDuration("slow_request_threshold",
                       options.slow_request_threshold);
}

absl::StatusOr<LogOptions> LogOptionsFromFlags() {
  LogOptions options;
  options.format = absl::GetFlag(FLAGS_log_format);
  options.slow_request_threshold = absl::GetFlag(FLAGS_slow_request_threshold);
  SEMRANK_RETURN_IF_ERROR(ValidateLogOptions(options));
  return options;
}

std::string DescribeLogOptions(const LogOptions& options) {
  return absl::StrFormat("log_format=%s\nslow_request_threshold=%s\n",
                         options.format,
                         absl::FormatDuration(options.slow_request_threshold));
}

}  // namespace semrank
