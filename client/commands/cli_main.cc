// The `semrank` program: finds the command, then leaves flags to
// ParseCommandLine and the work to the command.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_format.h"
#include "client/commands/command.h"
#include "client/commands/result_flags.h"
#include "model/base/status_macros.h"
#include "model/cli/near_match.h"
#include "model/cli/program.h"

namespace semrank {
namespace {

constexpr std::string_view kProgram = "semrank";
constexpr std::string_view kSummary =
    "ranks titles for a query by meaning, through a semrank-server";

constexpr std::array<const Command*, 9> kCommands = {
    &kRankCommand,   &kExplainCommand, &kEmbedCommand,
    &kPutCommand,    &kSearchCommand,  &kModelCommand,
    &kLimitsCommand, &kHealthCommand,  &kLoadCommand};

const Command* FindCommand(std::string_view name) {
  const auto found =
      std::find_if(kCommands.begin(), kCommands.end(),
                   [name](const Command* c) { return c->name == name; });
  return found == kCommands.end() ? nullptr : *found;
}

// Which flags there are depends on the command, so it is looked for before
// flags are: the first argument that is the name of one. Whether it stands
// where a command must is checked once the flags before it are known.
const Command* FindCommand(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (const Command* command = FindCommand(argv[i])) return command;
  }
  return nullptr;
}

std::string Usage() {
  std::string usage =
      "Usage: semrank [--address=HOST:PORT] COMMAND [flags]\n\nCommands:\n";
  for (const Command* command : kCommands) {
    usage += absl::StrFormat("  %-8s %s\n", command->name, command->summary);
  }
  return usage +
         "\n'semrank COMMAND --help' explains a command and lists its flags.\n"
         "\n"
         "Examples:\n"
         "  semrank rank --query=\"edit photos\" --titles=titles.txt "
         "--top_k=5\n"
         "  semrank explain --query=\"edit photos\" \"photo organizer\"\n"
         "  semrank embed --side=query \"edit photos\"\n"
         "  semrank --address=search-1:50051 health\n";
}

absl::Status NoSuchCommand(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    return UsageError("no command ('semrank --help' lists them)");
  }
  std::vector<std::string> names;
  for (const Command* command : kCommands) names.emplace_back(command->name);
  const std::string near = NearMatch(arguments[0], names);
  return UsageError(absl::StrFormat(
      "no command '%s' (%s)", arguments[0],
      near.empty() ? "'semrank --help' lists them"
                   : absl::StrFormat("did you mean %s?", near)));
}

absl::Status RunCommand(const Command& command,
                        std::vector<std::string> arguments) {
  if (arguments.empty() || arguments[0] != command.name) {
    return NoSuchCommand(arguments);
  }
  arguments.erase(arguments.begin());
  if (!arguments.empty() && !command.takes_arguments) {
    return UsageError(
        absl::StrFormat("unexpected argument '%s'", arguments[0]));
  }
  if (!command.output_may_be_file) {
    SEMRANK_RETURN_IF_ERROR(CheckOutputIsForm());
  }
  return command.run(arguments);
}

int Main(int argc, char** argv) {
  const Command* command = FindCommand(argc, argv);
  const std::string usage = Usage();
  const std::string name =
      command == nullptr ? std::string(kProgram)
                         : absl::StrFormat("%s %s", kProgram, command->name);
  const ProgramInfo info =
      command == nullptr ? ProgramInfo{kProgram, kSummary, usage,
                                       "client/commands/connection_flags"}
                         : ProgramInfo{name, command->summary, command->usage,
                                       command->flag_sources};
  std::vector<std::string> arguments = ParseCommandLine(info, argc, argv);
  return ExitCode(info, command == nullptr
                            ? NoSuchCommand(arguments)
                            : RunCommand(*command, std::move(arguments)));
}

}  // namespace
}  // namespace semrank

int main(int argc, char** argv) { return semrank::Main(argc, argv); }
