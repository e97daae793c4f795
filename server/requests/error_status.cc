#include "server/requests/error_status.h"

#include <map>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "google/rpc/error_details.pb.h"
#include "model/base/strings.h"
#include "server/base/errors.h"
#include "server/base/text_checks.h"

namespace semrank {
namespace {

constexpr char kDomain[] = "semrank";
constexpr char kDelayValue[] = "retry_delay_ms";

// Strings of a Protobuf message must be UTF-8, or clients cannot parse the
// details of the error. A message may quote what a caller sent, which may end
// in the middle of a character.
std::string AsUtf8(std::string_view text) {
  return IsUtf8(text) ? std::string(text) : absl::CHexEscape(ToAbsl(text));
}

void AddBadRequest(const std::string& field, const std::string& message,
                   google::rpc::Status& status) {
  google::rpc::BadRequest bad_request;
  auto* const violation = bad_request.add_field_violations();
  violation->set_field(field);
  violation->set_description(message);
  status.add_details()->PackFrom(bad_request);
}

// The pause as google.rpc.RetryInfo, for JSON and for items of a stream, which
// have no trailer of their own.
void AddRetryInfo(const std::string& delay_ms, google::rpc::Status& status) {
  constexpr std::int64_t kMillisPerSecond = 1'000;
  constexpr std::int32_t kNanosPerMilli = 1'000'000;
  std::int64_t delay = 0;
  if (!absl::SimpleAtoi(delay_ms, &delay)) return;
  google::rpc::RetryInfo retry_info;
  retry_info.mutable_retry_delay()->set_seconds(delay / kMillisPerSecond);
  retry_info.mutable_retry_delay()->set_nanos(
      static_cast<std::int32_t>(delay % kMillisPerSecond) * kNanosPerMilli);
  status.add_details()->PackFrom(retry_info);
}

}  // namespace

google::rpc::Status ToRpcStatus(const absl::Status& status) {
  google::rpc::Status result;
  if (status.ok()) return result;
  result.set_code(static_cast<int>(status.code()));
  result.set_message(AsUtf8(ToStd(status.message())));

  // ErrorInfo comes first: clients that read only one detail need the reason.
  const std::map<std::string, std::string> values = ErrorValues(status);
  google::rpc::ErrorInfo info;
  info.set_domain(kDomain);
  info.set_reason(ErrorReason(status));
  for (const auto& [name, value] : values) {
    (*info.mutable_metadata())[name] = AsUtf8(value);
  }
  result.add_details()->PackFrom(info);
  const auto field = values.find("field");
  if (status.code() == absl::StatusCode::kInvalidArgument &&
      field != values.end()) {
    AddBadRequest(AsUtf8(field->second), result.message(), result);
  }
  // The code does not matter: the presence of the value says that the caller
  // may try again.
  const auto delay = values.find(kDelayValue);
  if (delay != values.end()) AddRetryInfo(delay->second, result);
  return result;
}

std::optional<std::string> RetryDelayMillis(const absl::Status& status) {
  if (status.ok()) return std::nullopt;
  std::map<std::string, std::string> values = ErrorValues(status);
  const auto delay = values.find(kDelayValue);
  if (delay == values.end()) return std::nullopt;
  return std::move(delay->second);
}

}  // namespace semrank
