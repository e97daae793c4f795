// Sets a program's flags from where their values may come from. Nothing is
// printed and nothing exits, so that tests can call it; ParseCommandLine
// (program.h) does both.
#ifndef SEMRANK_MODEL_CLI_FLAG_PARSER_H_
#define SEMRANK_MODEL_CLI_FLAG_PARSER_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/cli/flag_table.h"

namespace semrank {

// The value of a variable of the environment, nothing if it is not set.
using EnvironmentLookup =
    std::function<std::optional<std::string>(const std::string& name)>;

struct ParsedArguments {
  // --help (or -h) and --version: nothing after them was looked at, no flag
  // was set.
  bool help = false;
  bool version = false;
  // Arguments that are no flags, in order; all after "--" are.
  std::vector<std::string> positional;
};

// `args` without the program's name. Command line > environment > flag file
// (--flagfile or SEMRANK_FLAGFILE; several are read in order); in each the
// last one wins. InvalidArgument names the flag as it was written, with the
// variable, or the file and line; flags may be set in part by then.
absl::StatusOr<ParsedArguments> ParseFlags(
    const FlagTable& table, const std::vector<std::string>& args,
    const EnvironmentLookup& environment);

}  // namespace semrank

#endif  // SEMRANK_MODEL_CLI_FLAG_PARSER_H_
