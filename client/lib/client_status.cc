#include "client/lib/client_status.h"

#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/str_format.h"

namespace semrank {
namespace {

// absl::Status maps a type URL to one payload; the server sends each type once.
void AddDetails(const google::rpc::Status& from, absl::Status& to) {
  for (const google::protobuf::Any& detail : from.details()) {
    to.SetPayload(detail.type_url(), absl::Cord(detail.value()));
  }
}

// absl::Status reads codes that it does not know as Unknown; 0 would be OK.
absl::StatusCode FailureCode(int code) {
  return code == 0 ? absl::StatusCode::kUnknown
                   : static_cast<absl::StatusCode>(code);
}

// A damaged detail is treated as absent: the code and the message are enough.
template <typename Detail>
std::optional<Detail> GetDetail(const absl::Status& status) {
  const auto payload = status.GetPayload("type.googleapis.com/" +
                                         Detail::descriptor()->full_name());
  Detail detail;
  if (!payload.has_value() || !detail.ParseFromString(std::string(*payload))) {
    return std::nullopt;
  }
  return detail;
}

}  // namespace

absl::Status FromGrpcStatus(const grpc::Status& status,
                            std::string_view address) {
  if (status.ok()) return absl::OkStatus();
  const absl::StatusCode code = FailureCode(status.error_code());
  // Some failures inside gRPC have no text; the code's name is better than
  // nothing.
  const std::string reason = status.error_message().empty()
                                 ? absl::StatusCodeToString(code)
                                 : status.error_message();
  absl::Status result(code, absl::StrFormat("%s: %s", address, reason));
  // The trailer grpc-status-details-bin. Proxies and old servers send none, and
  // then the code and the text are all there is.
  google::rpc::Status details;
  if (details.ParseFromString(status.error_details())) {
    AddDetails(details, result);
  }
  return result;
}

// An item of a response that arrived: its message names no address.
absl::Status FromItemStatus(const google::rpc::Status& status) {
  absl::Status result(FailureCode(status.code()), status.message());
  AddDetails(status, result);
  return result;
}

std::optional<google::rpc::ErrorInfo> GetErrorInfo(const absl::Status& status) {
  return GetDetail<google::rpc::ErrorInfo>(status);
}

bool HasReason(const absl::Status& status, std::string_view reason) {
  const auto info = GetErrorInfo(status);
  return info.has_value() && info->reason() == reason;
}

// The message of a status cannot be changed, so it is copied with its payloads.
absl::Status WithNote(const absl::Status& status, std::string_view note) {
  absl::Status noted(status.code(),
                     absl::StrFormat("%s (%s)", status.message(), note));
  status.ForEachPayload(
      [&noted](absl::string_view type_url, const absl::Cord& payload) {
        noted.SetPayload(type_url, payload);
      });
  return noted;
}

std::optional<absl::Duration> GetRetryDelay(const absl::Status& status) {
  const auto info = GetDetail<google::rpc::RetryInfo>(status);
  if (!info.has_value() || !info->has_retry_delay()) return std::nullopt;
  return absl::Seconds(info->retry_delay().seconds()) +
         absl::Nanoseconds(info->retry_delay().nanos());
}

}  // namespace semrank
