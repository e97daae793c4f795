#include "model/cli/flag_help.h"

#include <cstddef>
#include <map>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "model/base/strings.h"
#include "model/cli/help_text.h"
#include "model/cli/settable_flag.h"

namespace semrank {
namespace {

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
