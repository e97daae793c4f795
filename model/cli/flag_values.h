// Where the values of flags come from: command line > environment
// (SEMRANK_<NAME>) > files of --config (a later file wins) > default.
#ifndef SEMRANK_MODEL_CLI_FLAG_VALUES_H_
#define SEMRANK_MODEL_CLI_FLAG_VALUES_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "model/cli/program_command.h"

namespace semrank {

inline constexpr std::string_view kConfigFlag = "config";

// Notes for each flag of `program` that is in use the value of its strongest
// source; CLI11, which has read the command line, would prefer the file to the
// environment. SEMRANK_CONFIG names the file if `config_files` is empty.
// UsageError with the file, the line's flag and what would be right.
absl::Status GatherValues(ProgramCommand& program,
                          std::vector<std::string> config_files);

}  // namespace semrank

#endif  // SEMRANK_MODEL_CLI_FLAG_VALUES_H_
