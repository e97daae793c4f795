// Errors that programs can read: a status whose reason and values become one
// google.rpc.ErrorInfo over gRPC and HTTP.
//
//   Reasons  proto/README.md lists them. Clients depend on them, so none is
//            ever renamed.
//   Values   have names: "field", "value", "limit", "flag", "retry_delay_ms".
//            They never hold a text, a key or a payload of the caller.
#ifndef SEMRANK_SERVER_BASE_ERRORS_H_
#define SEMRANK_SERVER_BASE_ERRORS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace semrank {

struct ErrorValue {
  std::string_view name;
  std::string value;
};

absl::Status MakeError(absl::StatusCode code, std::string_view reason,
                       std::string_view message,
                       const std::vector<ErrorValue>& values = {});

// The values of an error about a limit, which --`flag` sets.
std::vector<ErrorValue> LimitValues(std::int64_t value, std::int64_t limit,
                                    std::string_view flag);

// The reason that MakeError got; for a status of the model library, the reason
// that fits its code. Empty only for OK.
std::string ErrorReason(const absl::Status& status);
std::map<std::string, std::string> ErrorValues(const absl::Status& status);

// INVALID_ARGUMENT `reason` about one field: "titles[3]: message".
absl::Status FieldError(std::string_view reason, std::string_view field,
                        std::string_view message,
                        std::vector<ErrorValue> values = {});

// How long a refused caller is asked to wait before it retries.
inline constexpr absl::Duration kRetryDelay = absl::Milliseconds(100);
// RESOURCE_EXHAUSTED OVERLOADED: the caller may retry after kRetryDelay.
absl::Status Overloaded(std::string_view message,
                        std::vector<ErrorValue> values);

// RESOURCE_EXHAUSTED CALLER_SHARE: this caller uses more than its share, and
// may retry after kRetryDelay; others are served.
absl::Status CallerShareError(std::string_view message,
                              std::vector<ErrorValue> values);

// Errors about the texts of a request, the same for every method.
absl::Status TooLong(std::string_view reason, std::string_view field,
                     std::size_t num_bytes, std::int64_t limit,
                     std::string_view flag);
absl::Status TextTooLong(std::string_view field, std::size_t num_bytes,
                         std::int64_t max_text_bytes);
// `cause` is the error of the normalizer, with the place of the bad byte.
absl::Status InvalidUtf8(std::string_view field, const absl::Status& cause);
absl::Status TooManyTexts(std::string_view field, std::uint64_t num_texts,
                          std::uint64_t max_texts_per_request);

// RESOURCE_EXHAUSTED about a whole message, and about the metadata of a call.
absl::Status MessageTooLarge(std::size_t num_bytes,
                             std::size_t max_request_bytes);
absl::Status MetadataTooLarge(std::size_t num_bytes,
                              std::size_t max_metadata_bytes);

// NOT_FOUND about one key: "ids[3]: no such document in the catalog".
absl::Status DocumentNotFound(std::string_view field);

// The bytes are not a message of this name ("semrank.v1.RankRequest").
inline constexpr std::string_view kMalformedReason = "MALFORMED_MESSAGE";
absl::Status MalformedMessage(std::string_view message_name);

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_ERRORS_H_
