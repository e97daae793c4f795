#include "model/cli/flag_values.h"

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/cli/config_file.h"
#include "model/cli/exit_code.h"
#include "model/cli/near_match.h"

namespace semrank {
namespace {

std::string EnvironmentName(std::string_view flag) {
  return "SEMRANK_" + absl::AsciiStrToUpper(ToAbsl(flag));
}

absl::Status UseLine(const ConfigLine& line, const std::string& path,
                     ProgramCommand& program) {
  const auto wrong = [&path](std::string_view what) {
    return UsageError(absl::StrFormat("%s: %s", path, what));
  };
  ProgramCommand* const owner =
      line.section.empty() ? &program : program.FindCommand(line.section);
  if (owner == nullptr) {
    return wrong(absl::StrFormat("unknown section [%s]", line.section));
  }
  if (line.name.empty()) return absl::OkStatus();
  ProgramCommand* const selected = program.selected;
  // A line outside any section may be a flag of the given command: one file
  // then serves a program without sections.
  Flag* flag = owner->FindOwn(line.name);
  if (flag == nullptr && owner == &program && selected != nullptr) {
    flag = selected->FindOwn(line.name);
  }
  if (flag == nullptr) {
    std::vector<std::string> known;
    for (const Flag* candidate : program.FlagsInUse()) {
      known.push_back(candidate->spec.name);
    }
    return wrong(absl::StrFormat("unknown flag %s%s", line.name,
                                 Hint(line.name, known, "")));
  }
  if (line.values.size() > 1 && !flag->spec.is_list) {
    return wrong(absl::StrFormat(
        "%s has several values; one with blanks or commas needs quotes",
        line.name));
  }
  // Sections of other commands are checked, but not used.
  const bool in_use = owner == &program || owner == selected;
  if (in_use && flag->source <= FlagSource::kFile) {
    flag->Give(FlagSource::kFile, absl::StrJoin(line.values, ","),
               absl::StrFormat("%s: %s", path, line.name));
  }
  return absl::OkStatus();
}

absl::Status UseFile(const std::string& path, ProgramCommand& program) {
  SEMRANK_ASSIGN_OR_RETURN(const std::vector<ConfigLine> lines,
                           ReadConfigFile(path));
  for (const ConfigLine& line : lines) {
    SEMRANK_RETURN_IF_ERROR(UseLine(line, path, program));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status GatherValues(ProgramCommand& program,
                          std::vector<std::string> config_files) {
  for (Flag* flag : program.FlagsInUse()) {
    flag->source = FlagSource::kDefault;
    // From the strongest source to the weakest; files come after this loop, as
    // a later file wins over an earlier one.
    if (flag->option->count() > 0) {
      flag->Give(FlagSource::kCommandLine, flag->option->results().back(),
                 "--" + flag->spec.name);
      continue;
    }
    const std::string variable = EnvironmentName(flag->spec.name);
    if (const char* value = std::getenv(variable.c_str()); value != nullptr) {
      flag->Give(FlagSource::kEnvironment, value, variable);
    }
  }
  if (const char* path = std::getenv(EnvironmentName(kConfigFlag).c_str());
      path != nullptr && config_files.empty()) {
    config_files.push_back(path);
  }
  for (const std::string& path : config_files) {
    SEMRANK_RETURN_IF_ERROR(UseFile(path, program));
  }
  return absl::OkStatus();
}

}  // namespace semrank
