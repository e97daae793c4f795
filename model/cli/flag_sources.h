// Where the values of flags come from: command line > environment
// (SEMRANK_<NAME>, unless it is empty) > files of --config (a later file wins)
// > default.
#ifndef SEMRANK_MODEL_CLI_FLAG_SOURCES_H_
#define SEMRANK_MODEL_CLI_FLAG_SOURCES_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "model/cli/program_command.h"

namespace semrank {

inline constexpr std::string_view kConfigFlag = "config";

struct SplitArguments {
  std::vector<std::string> tokens;  // flags, their values and the command
  std::vector<std::string> words;   // arguments that are not flags
  std::string wrong_command;        // a word where a command should be
  std::string without_value;        // a flag that lacks its value
  std::string negated_with_value;   // "shared_towers" of --noshared_towers=3
};

// Splits arguments, without the program's name, so that CLI11 reads what is
// meant. CLI11 2.1 reads `--hidden= --seed=3` as if --seed=3 were the value of
// --hidden, and `--gamma --seed=3` too; drops "--" in commands and "++", its
// mark for the end of a command; negates the value of --noshared_towers=3; and
// would remove the brackets of an argument "[like this]". So `tokens` has each
// value after its flag, and CLI11 never sees words.
//
// The first word is the command if `program` has any; the others, and all after
// "--", are words. Unknown flags are tokens.
SplitArguments Split(const std::vector<std::string>& arguments,
                     const ProgramCommand& program);

// Sets each flag in use to the value of its strongest source. CLI11, which has
// parsed the command line, would prefer the file to the environment.
// SEMRANK_CONFIG names the file if `config_files` is empty.
//
// A file has `name = value` lines and [sections] in TOML as CLI11 reads it, and
// at most 1 MiB. A line may have the form of the command line, `--name=value`.
// A # outside quotes that begins a line or follows a blank begins a comment. In
// a value in double quotes, \" and \\ are a quote and a backslash.
// UsageError with the file, the flag and what would be right.
absl::Status GatherValues(ProgramCommand& program,
                          std::vector<std::string> config_files);

}  // namespace semrank

#endif  // SEMRANK_MODEL_CLI_FLAG_SOURCES_H_
