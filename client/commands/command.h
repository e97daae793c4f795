// The commands of the `semrank` program. Each Add function adds one command
// with its flags to `program`; `common` must outlive the command.
#ifndef SEMRANK_CLIENT_COMMANDS_COMMAND_H_
#define SEMRANK_CLIENT_COMMANDS_COMMAND_H_

#include <functional>
#include <string_view>

#include "absl/status/status.h"
#include "client/commands/shared_options.h"
#include "model/cli/command_line.h"

namespace semrank {

struct Command {
  std::string_view name;
  // After the command line was parsed. UsageError or FlagError for wrong use.
  std::function<absl::Status()> run;
};

Command AddRankCommand(CommandLine& program, const CommonOptions& common);
Command AddExplainCommand(CommandLine& program, const CommonOptions& common);
Command AddEmbedCommand(CommandLine& program, const CommonOptions& common);
Command AddPutCommand(CommandLine& program, const CommonOptions& common);
Command AddSearchCommand(CommandLine& program, const CommonOptions& common);
Command AddModelCommand(CommandLine& program, const CommonOptions& common);
Command AddLimitsCommand(CommandLine& program, const CommonOptions& common);
Command AddHealthCommand(CommandLine& program, const CommonOptions& common);
Command AddLoadCommand(CommandLine& program, const CommonOptions& common);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_COMMANDS_COMMAND_H_
