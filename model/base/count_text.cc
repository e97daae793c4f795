#include "model/base/count_text.h"

#include <cstddef>

#include "absl/strings/str_format.h"

namespace semrank {

std::string GroupDigits(std::int64_t number) {
  std::string digits = absl::StrFormat("%d", number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
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
