#include "model/cli/exit_code.h"

#include <cstdio>

#include "absl/strings/cord.h"
#include "absl/strings/str_format.h"
#include "model/base/strings.h"
#include "model/text/utf8.h"

namespace semrank {
namespace {

// This payload marks a status as wrong use, for which there is no status
// code: libraries also return InvalidArgument, for a file for example, and
// that is a failure.
constexpr char kUsageErrorPayload[] = "semrank/usage_error";

}  // namespace

int ExitCode(std::string_view program, const absl::Status& status) {
  if (status.ok()) return kExitDone;
  // File names, flags and messages of servers may hold any bytes.
  absl::FPrintF(stderr, "%s: error: %s\n", program,
                status.message().empty()
                    ? absl::StatusCodeToString(status.code())
                    : EscapeControls(ToStd(status.message())));
  return status.GetPayload(kUsageErrorPayload).has_value() ? kExitWrongUse
                                                           : kExitFailed;
}

absl::Status UsageError(std::string_view message) {
  absl::Status status = absl::InvalidArgumentError(ToAbsl(message));
  status.SetPayload(kUsageErrorPayload, absl::Cord());
  return status;
}

absl::Status FlagError(std::string_view flag, std::string_view value,
                       std::string_view reason) {
  return UsageError(absl::StrFormat("--%s%s%s: %s", flag,
                                    value.empty() ? "" : "=", value, reason));
}

}  // namespace semrank
