#include "model/base/count_text.h"

#include "absl/strings/str_format.h"

namespace semrank {

std::string GroupDigits(std::int64_t number) {
  std::string digits = absl::StrFormat("%d", number);
  const int first = number < 0 ? 1 : 0;
  for (int at = static_cast<int>(digits.size()) - 3; at > first; at -= 3) {
    digits.insert(at, ",");
  }
  return digits;
}

std::string CountText(std::int64_t count, std::string_view singular,
                      std::string_view plural) {
  if (count == 1) return absl::StrFormat("1 %s", singular);
  return plural.empty()
             ? absl::StrFormat("%s %ss", GroupDigits(count), singular)
             : absl::StrFormat("%s %s", GroupDigits(count), plural);
}

}  // namespace semrank
