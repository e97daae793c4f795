#include "server/base/errors.h"

#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_format.h"
#include "model/base/strings.h"

namespace semrank {
namespace {

// Names of payloads inside absl::Status; they never leave the process.
constexpr std::string_view kReasonUrl = "semrank/reason";
constexpr std::string_view kValueUrlPrefix = "semrank/value/";

// The reason for a status of the model library, which carries none; so most of
// these reasons name a model.
std::string_view DefaultReason(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
      return "INVALID_FIELD";
    case absl::StatusCode::kNotFound:
      return "MODEL_NOT_FOUND";
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kFailedPrecondition:
      return "MODEL_DAMAGED";
    case absl::StatusCode::kUnavailable:
      return "NO_MODEL";
    case absl::StatusCode::kDeadlineExceeded:
      return "DEADLINE_EXCEEDED";
    case absl::StatusCode::kCancelled:
      return "CANCELLED";
    case absl::StatusCode::kResourceExhausted:
      return "OVERLOADED";
    case absl::StatusCode::kUnimplemented:
      return "NOT_IMPLEMENTED";
    // A code that was not chosen on purpose is a bug of the server.
    default:
      return "BUG";
  }
}

// Adds the retry delay as an error value. gRPC sends it as a trailer, HTTP as
// Retry-After, and both in RetryInfo.
absl::Status RetryLater(std::string_view reason, std::string_view message,
                        std::vector<ErrorValue> values) {
  values.push_back({"retry_delay_ms",
                    std::to_string(absl::ToInt64Milliseconds(kRetryDelay))});
  return MakeError(absl::StatusCode::kResourceExhausted, reason, message,
                   values);
}

}  // namespace

// Reason and values are payloads of the status, so they pass through functions
// that know only absl::Status, and SEMRANK_RETURN_IF_ERROR keeps them.
absl::Status MakeError(absl::StatusCode code, std::string_view reason,
                       std::string_view message,
                       const std::vector<ErrorValue>& values) {
  absl::Status status(code, ToAbsl(message));
  status.SetPayload(ToAbsl(kReasonUrl), absl::Cord(ToAbsl(reason)));
  for (const ErrorValue& value : values) {
    const std::string url =
        std::string(kValueUrlPrefix) + std::string(value.name);
    status.SetPayload(url, absl::Cord(value.value));
  }
  return status;
}

std::vector<ErrorValue> LimitValues(std::int64_t value, std::int64_t limit,
                                    std::string_view flag) {
  return {{"value", std::to_string(value)},
          {"limit", std::to_string(limit)},
          {"flag", std::string(flag)}};
}

std::string ErrorReason(const absl::Status& status) {
  if (status.ok()) return "";
  // Clients and metrics rely on a reason, so no error goes out without one.
  const auto reason = status.GetPayload(ToAbsl(kReasonUrl));
  if (reason.has_value()) return std::string(*reason);
  return std::string(DefaultReason(status.code()));
}

std::map<std::string, std::string> ErrorValues(const absl::Status& status) {
  std::map<std::string, std::string> values;
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& value) {
    std::string_view name = ToStd(url);
    if (!name.starts_with(kValueUrlPrefix)) return;
    name.remove_prefix(kValueUrlPrefix.size());
    values[std::string(name)] = std::string(value);
  });
  return values;
}

absl::Status FieldError(std::string_view reason, std::string_view field,
                        std::string_view message,
                        std::vector<ErrorValue> values) {
  // Every error about a field names it, whatever other values it has.
  values.push_back({"field", std::string(field)});
  return MakeError(absl::StatusCode::kInvalidArgument, reason,
                   absl::StrFormat("%s: %s", field, message), values);
}

absl::Status Overloaded(std::string_view message,
                        std::vector<ErrorValue> values) {
  return RetryLater("OVERLOADED", message, std::move(values));
}

absl::Status CallerShareError(std::string_view message,
                              std::vector<ErrorValue> values) {
  return RetryLater("CALLER_SHARE", message, std::move(values));
}

absl::Status TooLong(std::string_view reason, std::string_view field,
                     std::size_t num_bytes, std::int64_t limit,
                     std::string_view flag) {
  return FieldError(reason, field,
                    absl::StrFormat("%d bytes, over the limit of %d (--%s)",
                                    num_bytes, limit, flag),
                    LimitValues(num_bytes, limit, flag));
}

absl::Status TextTooLong(std::string_view field, std::size_t num_bytes,
                         std::int64_t max_text_bytes) {
  return TooLong("TEXT_TOO_LONG", field, num_bytes, max_text_bytes,
                 "max_text_bytes");
}

absl::Status InvalidUtf8(std::string_view field, const absl::Status& cause) {
  return FieldError("INVALID_UTF8", field, ToStd(cause.message()));
}

absl::Status TooManyTexts(std::string_view field, std::uint64_t num_texts,
                          std::uint64_t max_texts_per_request) {
  return FieldError(
      "TOO_MANY_TEXTS", field,
      absl::StrFormat("%d in one request, over the limit of %d "
                      "(--max_texts_per_request)",
                      num_texts, max_texts_per_request),
      LimitValues(num_texts, max_texts_per_request, "max_texts_per_request"));
}

absl::Status DocumentNotFound(std::string_view field) {
  return MakeError(
      absl::StatusCode::kNotFound, "DOCUMENT_NOT_FOUND",
      absl::StrFormat("%s: no such document in the catalog", field),
      {{"field", std::string(field)}});
}

absl::Status MalformedMessage(std::string_view message_name) {
  return MakeError(
      absl::StatusCode::kInvalidArgument, kMalformedReason,
      absl::StrFormat("the bytes are not a valid %s message", message_name),
      {{"message", std::string(message_name)}});
}

absl::Status MessageTooLarge(std::size_t num_bytes,
                             std::size_t max_request_bytes) {
  // Two flags determine the limit; the error names the one to raise.
  return MakeError(
      absl::StatusCode::kResourceExhausted, "MESSAGE_TOO_LARGE",
      absl::StrFormat("a message of %d bytes, over the limit of %d that "
                      "--max_texts_per_request and --max_text_bytes make",
                      num_bytes, max_request_bytes),
      LimitValues(num_bytes, max_request_bytes, "max_texts_per_request"));
}

absl::Status MetadataTooLarge(std::size_t num_bytes,
                              std::size_t max_metadata_bytes) {
  return MakeError(
      absl::StatusCode::kResourceExhausted, "METADATA_TOO_LARGE",
      absl::StrFormat("%d bytes of metadata, over the limit of %d "
                      "(--max_metadata_bytes)",
                      num_bytes, max_metadata_bytes),
      LimitValues(num_bytes, max_metadata_bytes, "max_metadata_bytes"));
}

}  // namespace semrank
