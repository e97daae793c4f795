#include "server/core/text_checks.h"

#include "absl/strings/str_format.h"
#include "server/core/errors.h"

namespace semrank {

std::string ItemName(std::string_view field, std::size_t index) {
  return absl::StrFormat("%s[%d]", field, index);
}

absl::Status CheckQuery(std::string_view query, const Limits& limits) {
  if (query.empty()) return FieldError("EMPTY_QUERY", "query", "is empty");
  if (IsTooLong(query, limits)) {
    return TextTooLong("query", query.size(), limits.max_text_bytes);
  }
  return absl::OkStatus();
}

}  // namespace semrank
