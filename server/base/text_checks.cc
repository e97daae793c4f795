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

// Searching costs about as much as copying the bytes.
double NormalizedGrowth(std::string_view bytes) {
  constexpr std::string_view kLigature = "\xEF\xB7\xBA";
  constexpr double kBytesAdded = 30;
  double num_added = 0;
  std::size_t at = 0;
  while ((at = bytes.find(kLigature, at)) != std::string_view::npos) {
    num_added += kBytesAdded;
    at += kLigature.size();
  }
  return bytes.empty() ? 1 : 1 + num_added / static_cast<double>(bytes.size());
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
