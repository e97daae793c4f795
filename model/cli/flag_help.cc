#include "model/cli/flag_help.h"

#include <cstddef>
#include <map>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "model/base/strings.h"
#include "model/cli/settable_flag.h"

namespace semrank {
namespace {

std::string WrapLine(absl::string_view line, const std::string& margin) {
  std::string wrapped = margin;
  std::size_t column = margin.size();
  for (const absl::string_view word :
       absl::StrSplit(line, ' ', absl::SkipEmpty())) {
    const bool first = column == margin.size();
    if (!first && column + 1 + word.size() > kHelpColumns) {
      wrapped += "\n" + margin;
      column = margin.size();
    } else if (!first) {
      wrapped += ' ';
      ++column;
    }
    wrapped.append(word.data(), word.size());
    column += word.size();
  }
  return wrapped + "\n";
}

std::string FlagHelp(std::string_view form, std::string_view default_value,
                     std::string_view help) {
  return absl::StrFormat(
      "  %s (default: %s)\n%s", form,
      default_value.empty() ? std::string_view("none") : default_value,
      WrapText(help, /*indent=*/6));
}

std::string FlagHelp(const absl::CommandLineFlag& flag) {
  const std::string form = IsBoolean(flag)
                               ? absl::StrFormat("--[no]%s", flag.Name())
                               : absl::StrFormat("--%s=VALUE", flag.Name());
  return FlagHelp(form, flag.DefaultValue(), flag.Help());
}

}  // namespace

std::string WrapText(std::string_view text, int indent) {
  const std::string margin(indent, ' ');
  std::string wrapped;
  for (const absl::string_view line : absl::StrSplit(ToAbsl(text), '\n')) {
    wrapped += WrapLine(line, margin);
  }
  return wrapped;
}

std::string HelpText(const ProgramInfo& info, const FlagTable& table) {
  std::map<std::string, std::string> by_name;
  for (const absl::CommandLineFlag* flag : table.flags()) {
    by_name.emplace(flag->Name(), FlagHelp(*flag));
  }
  by_name.emplace(
      kFlagfileFlag,
      FlagHelp("--flagfile=FILE", "",
               "Reads flags from the lines of FILE: name=value, with or "
               "without the dashes; # begins a comment line."));
  by_name.emplace(kHelpFlag, "  --help\n      Prints this text and exits.\n");
  by_name.emplace(kVersionFlag,
                  "  --version\n      Prints the release and exits.\n");
  std::string text =
      absl::StrFormat("%s: %s\n\n%s", info.name, info.summary, info.usage);
  if (!info.usage.ends_with('\n')) text += '\n';
  text += "\n" +
          WrapText(
              "Flags. A value on the command line wins over "
              "SEMRANK_<NAME> in the environment, that one over "
              "--flagfile.",
              /*indent=*/0) +
          "\n";
  for (const auto& [name, help] : by_name) text += help;
  return text;
}

}  // namespace semrank
