#include "model/train/grid_spec.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "model/base/program.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"

namespace semrank {
namespace {

// One flag and the values that it takes.
struct GridAxis {
  std::string flag;
  std::vector<std::string> values;
};

absl::StatusOr<GridAxis> ParseAxis(absl::string_view text) {
  const std::string shown(text);
  const std::size_t equals = shown.find('=');
  if (equals == std::string::npos || equals == 0) {
    return FlagError("grid", shown, "must be flag=value,value;flag=value,...");
  }
  GridAxis axis = {std::string(absl::StripAsciiWhitespace(
                       absl::string_view(shown).substr(0, equals))),
                   {}};
  const absl::string_view values = absl::string_view(shown).substr(equals + 1);
  const char separator = absl::StrContains(values, "|") ? '|' : ',';
  for (const absl::string_view part : absl::StrSplit(values, separator)) {
    std::string value(absl::StripAsciiWhitespace(part));
    if (std::find(axis.values.begin(), axis.values.end(), value) !=
        axis.values.end()) {
      return FlagError("grid", shown,
                       absl::StrFormat("value '%s' stands twice", value));
    }
    axis.values.push_back(std::move(value));
  }
  return axis;
}

}  // namespace

absl::StatusOr<std::vector<GridSetting>> ParseGrid(std::string_view text) {
  std::vector<GridSetting> settings = {{}};
  for (const absl::string_view part : absl::StrSplit(ToAbsl(text), ';')) {
    SEMRANK_ASSIGN_OR_RETURN(const GridAxis axis, ParseAxis(part));
    for (const GridAssignment& earlier : settings.front()) {
      if (earlier.flag != axis.flag) continue;
      return FlagError("grid", text,
                       absl::StrFormat("names %s twice", axis.flag));
    }
    if (settings.size() * axis.values.size() > kMaxGridSettings) {
      return FlagError("grid", text,
                       absl::StrFormat("has more than %d combinations, each "
                                       "of which would be a training run",
                                       kMaxGridSettings));
    }
    std::vector<GridSetting> longer;
    for (const GridSetting& setting : settings) {
      for (const std::string& value : axis.values) {
        longer.push_back(setting);
        longer.back().push_back({axis.flag, value});
      }
    }
    settings = std::move(longer);
  }
  return settings;
}

std::string FormatSetting(const GridSetting& setting) {
  std::string text;
  for (const GridAssignment& assignment : setting) {
    absl::StrAppendFormat(&text, "%s%s=%s", text.empty() ? "" : " ",
                          assignment.flag, assignment.value);
  }
  return text;
}

}  // namespace semrank
