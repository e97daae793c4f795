#include "model/events/click_rows.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "absl/strings/str_format.h"

namespace semrank {
namespace {

// Files of tab-separated values have no escapes.
void AppendField(std::string_view text, std::string& lines) {
  for (const char c : text) {
    lines += c == '\t' || c == '\n' || c == '\r' ? ' ' : c;
  }
  lines += '\t';
}

// A line of --train may have any count, and a sum that wraps to 0 impressions
// has no click rate.
void AddSaturated(std::uint32_t count, std::uint32_t& sum) {
  sum += std::min(count, std::numeric_limits<std::uint32_t>::max() - sum);
}

}  // namespace

void ClickRows::Add(TextId query, TextId title, std::uint32_t position,
                    std::uint32_t clicks, std::uint32_t impressions) {
  Sums& sums = sums_[{query, title, position}];
  AddSaturated(clicks, sums.clicks);
  AddSaturated(impressions, sums.impressions);
}

// The order of the hash map differs from run to run; that of the rows must not,
// since training depends on it.
std::vector<ClickRow> ClickRows::Sorted() const {
  std::vector<ClickRow> rows;
  rows.reserve(sums_.size());
  for (const auto& [key, sums] : sums_) {
    rows.push_back(
        {key.query, key.title, key.position, sums.clicks, sums.impressions});
  }
  std::ranges::sort(rows, {}, [](const ClickRow& row) {
    return std::tuple(row.query, row.title, row.position);
  });
  return rows;
}

void AppendClickRow(const ClickRow& row, std::string_view query,
                    std::string_view title, std::string& lines) {
  AppendField(query, lines);
  AppendField(title, lines);
  absl::StrAppendFormat(&lines, "%d\t%d\t%d\n", row.clicks, row.impressions,
                        row.position);
}

}  // namespace semrank
