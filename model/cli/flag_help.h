// The text that --help prints.
#ifndef SEMRANK_MODEL_CLI_FLAG_HELP_H_
#define SEMRANK_MODEL_CLI_FLAG_HELP_H_

#include <string>
#include <string_view>

#include "model/cli/flag_table.h"
#include "model/cli/program.h"

namespace semrank {

inline constexpr int kHelpColumns = 100;

// Breaks `text` at blanks into lines of at most kHelpColumns bytes, each
// indented by `indent` blanks and ended by "\n"; longer words stay whole. Line
// ends in `text` are kept.
std::string WrapText(std::string_view text, int indent);

// Summary, usage as it is, then every flag in alphabetical order.
std::string HelpText(const ProgramInfo& info, const FlagTable& table);

}  // namespace semrank

#endif  // SEMRANK_MODEL_CLI_FLAG_HELP_H_
