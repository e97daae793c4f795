// JSON from files that may be corrupt or malicious: strict, without exceptions,
// and with memory bounded by a small multiple of the text.
#ifndef SEMRANK_MODEL_FORMAT_STRICT_JSON_H_
#define SEMRANK_MODEL_FORMAT_STRICT_JSON_H_

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "absl/status/statusor.h"

namespace semrank {

// The deepest nesting of objects and arrays that ParseStrictJson accepts.
inline constexpr int kMaxJsonDepth = 8;

// Parses a text that is valid JSON in valid UTF-8, repeats no member of an
// object and nests no deeper than kMaxJsonDepth; otherwise returns
// InvalidArgument with the reason.
absl::StatusOr<nlohmann::json> ParseStrictJson(std::string_view text);

}  // namespace semrank

#endif  // SEMRANK_MODEL_FORMAT_STRICT_JSON_H_
