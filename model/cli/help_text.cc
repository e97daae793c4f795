#include "model/cli/help_text.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "model/base/strings.h"

namespace semrank {
namespace {

std::string WrapLine(absl::string_view line, const std::string& margin) {
  std::string wrapped = margin;
  std::size_t column = margin.size();
  for (const absl::string_view word :
       absl::StrSplit(line, ' ', absl::SkipEmpty())) {
    const bool first = column == margin.size();
    // A word that is longer than a line gets one of its own.
    if (!first && column + 1 + word.size() > kHelpColumns) {
      wrapped += "\n" + margin;
      column = margin.size();
    } else if (!first) {
      wrapped += ' ';
      ++column;
    }
    wrapped.append(word.data(), word.size());
    column += word.size();
  }
  return wrapped + "\n";
}

}  // namespace

std::string WrapText(std::string_view text, int indent) {
  const std::string margin(indent, ' ');
  std::string wrapped;
  for (const absl::string_view line : absl::StrSplit(ToAbsl(text), '\n')) {
    wrapped += WrapLine(line, margin);
  }
  return wrapped;
}

std::string FormatHelp(const std::vector<HelpEntry>& entries) {
  // In order of first appearance: flags of one group may be added in several
  // places.
  std::vector<std::string> groups;
  for (const HelpEntry& entry : entries) {
    if (std::ranges::find(groups, entry.group) == groups.end()) {
      groups.push_back(entry.group);
    }
  }
  std::string text;
  for (const std::string& group : groups) {
    absl::StrAppendFormat(&text, "\n%s:\n", group);
    for (const HelpEntry& entry : entries) {
      if (entry.group != group) continue;
      absl::StrAppendFormat(
          &text, "  %s%s\n%s", entry.form,
          entry.facts.empty() ? "" : absl::StrFormat(" (%s)", entry.facts),
          WrapText(entry.help, /*indent=*/6));
    }
  }
  return text;
}

}  // namespace semrank
