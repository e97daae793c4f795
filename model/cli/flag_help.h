// The text that --help prints.
#ifndef SEMRANK_MODEL_CLI_FLAG_HELP_H_
#define SEMRANK_MODEL_CLI_FLAG_HELP_H_

#include <string>
#include <string_view>

#include "model/cli/flag_table.h"
#include "model/cli/program.h"

namespace semrank {

// Summary, usage as it is, then every flag in alphabetical order.
std::string HelpText(const ProgramInfo& info, const FlagTable& table);

}  // namespace semrank

#endif  // SEMRANK_MODEL_CLI_FLAG_HELP_H_
