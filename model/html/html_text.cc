#include "model/html/html_text.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace semrank {

// Escapes both kinds of quotes, so that the result may be an attribute's value.
// Most control characters are not allowed in HTML, escaped or not; all become
// blanks.
std::string EscapeHtml(std::string_view text) {
  std::string html = absl::StrReplaceAll(
      absl::string_view(text.data(), text.size()), {{"&", "&amp;"},
                                                    {"<", "&lt;"},
                                                    {">", "&gt;"},
                                                    {"\"", "&quot;"},
                                                    {"'", "&#39;"}});
  const auto is_control = [](unsigned char c) { return c < ' '; };
  std::ranges::replace_if(html, is_control, ' ');
  return html;
}

// Escapes line by line, since EscapeHtml turns a line break into a blank.
std::string EscapeLines(const std::string& text) {
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  for (std::string& line : lines) line = EscapeHtml(line);
  return absl::StrJoin(lines, "\n");
}

}  // namespace semrank
