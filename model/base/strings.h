// Converts between std and Abseil string views. Debian builds Abseil with its
// own string view type, which does not convert to or from std::string_view.
// semrank uses std::string_view everywhere and converts at calls of Abseil
// functions. (absl::StrFormat accepts both; absl::StrCat does not.)
#ifndef SEMRANK_MODEL_BASE_STRINGS_H_
#define SEMRANK_MODEL_BASE_STRINGS_H_

#include <string_view>

#include "absl/strings/string_view.h"

namespace semrank {

inline absl::string_view ToAbsl(std::string_view text) {
  return absl::string_view(text.data(), text.size());
}

inline std::string_view ToStd(absl::string_view text) {
  return std::string_view(text.data(), text.size());
}

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_STRINGS_H_
