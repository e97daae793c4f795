#include "client/output/advice.h"

#include <optional>
#include <string>

#include "absl/strings/str_format.h"
#include "client/input/unicode.h"
#include "client/lib/client_status.h"

namespace semrank {
namespace {

std::string RetryAdvice(const absl::Status& status) {
  const std::optional<absl::Duration> delay = GetRetryDelay(status);
  if (!delay.has_value()) return "try again later";
  return absl::StrFormat("try again in %s", absl::FormatDuration(*delay));
}

// By the server's own reason (proto/README.md).
std::string AdviceForReason(const std::string& reason,
                            const absl::Status& status) {
  if (reason == "TOO_MANY_TEXTS") {
    return "send fewer in one call, or raise the limit of the server";
  }
  if (reason == "MESSAGE_TOO_LARGE") return "send fewer texts in one call";
  if (reason == "MODEL_NOT_FOUND") {
    return "'semrank model --list' shows what there is";
  }
  if (reason == "MODEL_LOADING" || reason == "NO_MODEL" ||
      reason == "DRAINING" || reason == "OVERLOADED") {
    return RetryAdvice(status);
  }
  if (reason == "MISSING_KEY" || reason == "UNKNOWN_KEY") {
    return "--api_key_file=FILE or SEMRANK_API_KEY gives a key";
  }
  return "";
}

// For what gRPC says without the server's services.
std::string AdviceForCode(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kUnavailable:
      return "is semrank-server running there? --address=HOST:PORT names "
             "another";
    case absl::StatusCode::kDeadlineExceeded:
      return "--deadline=TIME waits longer";
    case absl::StatusCode::kUnimplemented:
      return "is that a semrank-server of this release?";
    case absl::StatusCode::kResourceExhausted:
      return "send fewer texts in one call";
    default:
      return "";
  }
}

}  // namespace

absl::Status WithAdvice(const absl::Status& status) {
  if (status.ok()) return status;
  const auto info = GetErrorInfo(status);
  const std::string advice = info.has_value()
                                 ? AdviceForReason(info->reason(), status)
                                 : AdviceForCode(status.code());
  const std::string message = EscapeControls(std::string(status.message()));
  return absl::Status(
      status.code(),
      advice.empty() ? message : absl::StrFormat("%s; %s", message, advice));
}

}  // namespace semrank
