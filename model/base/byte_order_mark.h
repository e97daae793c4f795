// The byte order mark that editors on Windows put before UTF-8.
#ifndef SEMRANK_MODEL_BASE_BYTE_ORDER_MARK_H_
#define SEMRANK_MODEL_BASE_BYTE_ORDER_MARK_H_

#include <string_view>

namespace semrank {

inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// `text` without the mark that it may begin with.
inline std::string_view WithoutByteOrderMark(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
  }
  return text;
}

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_BYTE_ORDER_MARK_H_
