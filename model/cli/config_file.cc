#include "model/cli/config_file.h"

#include <CLI/CLI.hpp>
#include <cstddef>
#include <sstream>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "model/base/file_io.h"
#include "model/base/strings.h"
#include "model/cli/exit_code.h"

namespace semrank {
namespace {

constexpr std::size_t kMaxConfigBytes = std::size_t{1} << 20;

// CLI11 would cut "pass#word" at the #, in quotes too.
std::string_view WithoutComment(std::string_view line) {
  char quote = 0;
  char before = ' ';
  for (std::size_t i = 0; i < line.size(); before = line[i++]) {
    if (quote != 0) {
      if (line[i] == quote) quote = 0;
    } else if (line[i] == '#' && absl::ascii_isspace(before)) {
      return line.substr(0, i);
    } else if (line[i] == '"' || line[i] == '\'') {
      quote = line[i];
    }
  }
  return line;
}

std::string WithoutComments(std::string_view content) {
  std::string lines;
  for (const absl::string_view line : absl::StrSplit(ToAbsl(content), '\n')) {
    lines += WithoutComment(ToStd(line));
    lines += '\n';
  }
  return lines;
}

}  // namespace

absl::StatusOr<std::vector<ConfigLine>> ReadConfigFile(
    const std::string& path) {
  const absl::StatusOr<std::string> content = ReadFile(path, kMaxConfigBytes);
  if (!content.ok()) {
    return UsageError(
        absl::StrFormat("%s: cannot be read as a file of --config: %s", path,
                        content.status().message()));
  }
  std::istringstream file(WithoutComments(*content));
  CLI::ConfigTOML reader;
  reader.comment('\0');  // none is left
  std::vector<ConfigLine> lines;
  for (const CLI::ConfigItem& item : reader.from_config(file)) {
    const bool is_mark = item.name == "++" || item.name == "--";
    const bool has_dashes = item.name.starts_with("--");
    lines.push_back(
        {.section = absl::StrJoin(item.parents, "."),
         .name = is_mark ? "" : item.name.substr(has_dashes ? 2 : 0),
         .values = item.inputs});
  }
  return lines;
}

}  // namespace semrank
