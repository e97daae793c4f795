// The text that --help prints.
#ifndef SEMRANK_MODEL_CLI_HELP_TEXT_H_
#define SEMRANK_MODEL_CLI_HELP_TEXT_H_

#include <string>
#include <string_view>

#include "model/cli/program_command.h"

namespace semrank {

inline constexpr int kHelpColumns = 100;

// Breaks `text` at blanks into lines of at most kHelpColumns bytes, each
// indented by `indent` blanks and ended by "\n"; longer words stay whole. Line
// ends in `text` are kept.
std::string WrapText(std::string_view text, int indent);

// Usage, commands and the flags in use by group, in the order of first use;
// advanced ones only if `all`.
std::string HelpText(const ProgramCommand& program, bool all);

}  // namespace semrank

#endif  // SEMRANK_MODEL_CLI_HELP_TEXT_H_
