// The text that --help prints.
#ifndef SEMRANK_MODEL_CLI_HELP_TEXT_H_
#define SEMRANK_MODEL_CLI_HELP_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

namespace semrank {

inline constexpr int kHelpColumns = 100;

// Breaks `text` at blanks into lines of at most kHelpColumns bytes, each
// indented by `indent` blanks and ended by "\n"; longer words stay whole. Line
// ends in `text` are kept.
std::string WrapText(std::string_view text, int indent);

struct HelpEntry {
  std::string group;
  std::string form;   // "--batch_size=N"
  std::string facts;  // "default: 1024; 1 to 16384"; may be empty
  std::string help;
};

// A heading for each group, in the order of first use, and its entries in
// theirs.
std::string FormatHelp(const std::vector<HelpEntry>& entries);

}  // namespace semrank

#endif  // SEMRANK_MODEL_CLI_HELP_TEXT_H_
