#include "server/base/text_checks.h"

#include <google/protobuf/stubs/common.h>

#include "absl/strings/str_format.h"
#include "server/base/errors.h"

namespace semrank {

std::string ItemName(std::string_view field, std::size_t index) {
  return absl::StrFormat("%s[%d]", field, index);
}

// Protobuf's own check, so that reading in place and parsing agree on every
// byte.
bool IsUtf8(std::string_view text) {
  return google::protobuf::internal::IsStructurallyValidUTF8(
      text.data(), static_cast<int>(text.size()));
}

absl::Status CheckUtf8(std::string_view field, std::string_view text) {
  if (IsUtf8(text)) return absl::OkStatus();
  return FieldError("INVALID_UTF8", field, "is not UTF-8");
}

absl::Status CheckQuery(std::string_view query, const Limits& limits) {
  if (query.empty()) return FieldError("EMPTY_QUERY", "query", "is empty");
  if (IsTooLong(query, limits)) {
    return TextTooLong("query", query.size(), limits.max_text_bytes);
  }
  return absl::OkStatus();
}

}  // namespace semrank
