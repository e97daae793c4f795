#include "model/cli/program_command.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace semrank {

void Flag::Give(FlagSource from, const std::string& text,
                std::string_view written_before) {
  source = from;
  value = text;
  origin = absl::StrFormat("%s=%s", written_before, Shown(text));
}

std::vector<Flag*> ProgramCommand::FlagsInUse() const {
  std::vector<Flag*> in_use;
  for (const ProgramCommand* command :
       {static_cast<const ProgramCommand*>(selected), this}) {
    if (command == nullptr) continue;
    for (const auto& flag : command->flags) in_use.push_back(flag.get());
  }
  return in_use;
}

Flag* ProgramCommand::FindOwn(std::string_view name) const {
  const auto found = std::ranges::find_if(
      flags, [name](const auto& flag) { return flag->spec.name == name; });
  return found == flags.end() ? nullptr : found->get();
}

Flag* ProgramCommand::Find(std::string_view name) const {
  if (Flag* flag = FindOwn(name); flag != nullptr) return flag;
  for (const ProgramCommand* command : commands) {
    if (Flag* flag = command->FindOwn(name); flag != nullptr) return flag;
  }
  return nullptr;
}

ProgramCommand* ProgramCommand::FindCommand(std::string_view name) const {
  const auto found =
      std::ranges::find_if(commands, [name](const ProgramCommand* command) {
        return command->info.name == name;
      });
  return found == commands.end() ? nullptr : *found;
}

std::string_view FlagSourceName(FlagSource source) {
  switch (source) {
    case FlagSource::kDefault:
      return "default";
    case FlagSource::kFile:
      return "config file";
    case FlagSource::kEnvironment:
      return "environment";
    case FlagSource::kCommandLine:
      return "command line";
  }
  return "";
}

}  // namespace semrank
