#include "model/base/near_match.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "absl/strings/str_format.h"

namespace semrank {

int EditDistance(std::string_view a, std::string_view b) {
  // Rows of the usual table for prefixes of `a` of length i - 2, i - 1 and i;
  // swaps need the oldest.
  std::vector<int> two_above(b.size() + 1), above(b.size() + 1),
      row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    two_above.swap(above);
    above.swap(row);
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, above[j] + 1, row[j - 1] + 1});
      // A swap of neighbours is one edit (optimal string alignment).
      const bool swapped =
          i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], two_above[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string NearMatch(std::string_view typed,
                      const std::vector<std::string>& names) {
  // A longer text is not a typing error, and comparing it would cost time.
  constexpr std::size_t kMaxBytes = 100;
  if (typed.empty() || typed.size() > kMaxBytes) return "";
  std::string wanted(typed);
  std::ranges::replace(wanted, '-', '_');
  // The largest distance that is accepted, then the least so far. A short name
  // is two edits away from too many others.
  int least = wanted.size() < 5 ? 1 : 2;
  std::string best, begins;
  int num_begins = 0;
  for (const std::string& name : names) {
    const int distance = EditDistance(wanted, name);
    if (distance < least || (distance == least && best.empty())) {
      least = distance;
      best = name;
    }
    if (name.starts_with(wanted)) {
      begins = name;
      ++num_begins;
    }
  }
  if (!best.empty()) return best;
  return num_begins == 1 ? begins : "";
}

std::string Hint(std::string_view typed, const std::vector<std::string>& names,
                 std::string_view prefix) {
  const std::string near = NearMatch(typed, names);
  return near.empty() ? ""
                      : absl::StrFormat(" (did you mean %s%s?)", prefix, near);
}

}  // namespace semrank
