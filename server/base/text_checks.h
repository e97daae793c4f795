// Checks of the texts of a request, and the report of texts that fail them.
#ifndef SEMRANK_SERVER_BASE_TEXT_CHECKS_H_
#define SEMRANK_SERVER_BASE_TEXT_CHECKS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/base/limits.h"

namespace semrank {

// An error of one candidate or text; the others are answered.
struct ItemProblem {
  std::uint32_t index = 0;
  absl::Status status;
};

// "titles[3]"
std::string ItemName(std::string_view field, std::size_t index);

inline bool IsTooLong(std::string_view text, const Limits& limits) {
  return text.size() > static_cast<std::size_t>(limits.max_text_bytes);
}

// How many bytes of plain text must be added to `text` to make as much work as
// it, at most, for the characters that normalising makes longer: U+FDFA becomes
// four words of 33 bytes, and those of U+3200 to U+33FF and U+FDF0 to U+FDFF up
// to six words. Chinese, Japanese and emoji, whose characters are words each,
// are less work a byte than English.
std::size_t BytesAddedByNormalizing(std::string_view text);

// The check that Protobuf's parser and serialiser make of a string.
bool IsUtf8(std::string_view text);
// INVALID_UTF8 about `field`. For names, which are compared but not normalised.
absl::Status CheckUtf8(std::string_view field, std::string_view text);

// The checks of a query in every method: EMPTY_QUERY, TEXT_TOO_LONG.
absl::Status CheckQuery(std::string_view query, const Limits& limits);

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_TEXT_CHECKS_H_
