// The text that --help prints.
#ifndef SEMRANK_MODEL_CLI_HELP_TEXT_H_
#define SEMRANK_MODEL_CLI_HELP_TEXT_H_

#include <string>

#include "model/cli/program_command.h"

namespace semrank {

// Usage, commands and the flags in use by group, in the order of first use;
// advanced ones only if `all`.
std::string HelpText(const ProgramCommand& program, bool all);

}  // namespace semrank

#endif  // SEMRANK_MODEL_CLI_HELP_TEXT_H_
