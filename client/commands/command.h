// A command of the `semrank` program.
#ifndef SEMRANK_CLIENT_COMMANDS_COMMAND_H_
#define SEMRANK_CLIENT_COMMANDS_COMMAND_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace semrank {

struct Command {
  std::string_view name;          // "rank"
  std::string_view summary;       // one line
  std::string_view usage;         // synopsis and examples, for --help
  std::string_view flag_sources;  // as ProgramInfo.flag_source
  bool takes_arguments;           // false: any argument is wrong use
  // Flags are set. `arguments`: what follows the command's name and is no flag.
  // UsageError or FlagError for wrong use.
  absl::Status (*run)(const std::vector<std::string>& arguments);
  bool output_may_be_file = false;  // of --output, where the command has it
};

extern const Command kRankCommand;
extern const Command kEmbedCommand;
extern const Command kExplainCommand;
extern const Command kPutCommand;
extern const Command kSearchCommand;
extern const Command kLimitsCommand;
extern const Command kLoadCommand;
extern const Command kModelCommand;
extern const Command kHealthCommand;

}  // namespace semrank

#endif  // SEMRANK_CLIENT_COMMANDS_COMMAND_H_
