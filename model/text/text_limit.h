// The longest text that is embedded, the same by a server and on this machine.
#ifndef SEMRANK_MODEL_TEXT_TEXT_LIMIT_H_
#define SEMRANK_MODEL_TEXT_TEXT_LIMIT_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace semrank {

// The default of --max_text_bytes, in bytes of UTF-8 before the text is
// normalised.
inline constexpr std::int64_t kDefaultMaxTextBytes = 4'096;

inline bool IsTooLong(std::string_view text, std::int64_t max_bytes) {
  return text.size() > static_cast<std::size_t>(max_bytes);
}

}  // namespace semrank

#endif  // SEMRANK_MODEL_TEXT_TEXT_LIMIT_H_
