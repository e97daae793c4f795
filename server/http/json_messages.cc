#include "server/http/json_messages.h"

#include <google/protobuf/util/json_util.h>

#include "absl/strings/str_format.h"
#include "server/base/errors.h"
#include "server/requests/rpc_status.h"

namespace semrank {

namespace util = google::protobuf::util;

absl::StatusOr<std::string> ToJson(const google::protobuf::Message& message) {
  util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto status = util::MessageToJsonString(message, &json, options);
  if (!status.ok()) {
    return absl::InternalError("cannot write the response as JSON");
  }
  return json;
}

absl::Status FromJson(std::string_view json,
                      google::protobuf::Message& message) {
  message.Clear();
  const auto status =
      util::JsonStringToMessage({json.data(), json.size()}, &message);
  if (status.ok()) return absl::OkStatus();
  const std::string name = message.GetTypeName();
  return MakeError(absl::StatusCode::kInvalidArgument, "MALFORMED_MESSAGE",
                   absl::StrFormat("the body is no %s as JSON: %s", name,
                                   std::string(status.message())),
                   {{"message", name}});
}

std::string StatusToJson(const absl::Status& status) {
  return ToJson(ToRpcStatus(status))
      .value_or(
          absl::StrFormat("{\"code\":%d}", static_cast<int>(status.code())));
}

int ToHttpCode(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
      return 200;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
      return 400;
    case absl::StatusCode::kUnauthenticated:
      return 401;
    case absl::StatusCode::kPermissionDenied:
      return 403;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kAlreadyExists:
      return 409;
    case absl::StatusCode::kResourceExhausted:
      return 429;
    case absl::StatusCode::kCancelled:
      return 499;
    case absl::StatusCode::kUnimplemented:
      return 501;
    case absl::StatusCode::kUnavailable:
      return 503;
    case absl::StatusCode::kDeadlineExceeded:
      return 504;
    default:
      return 500;
  }
}

}  // namespace semrank
