#include "model/html/html_text.h"

#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace semrank {
namespace {

// Escapes both kinds of quotes, so that the result may be an attribute's value.
std::string_view Escaped(char character, std::string_view as_it_is) {
  switch (character) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      // Most control characters are not allowed in HTML, escaped or not; all
      // become blanks.
      return static_cast<unsigned char>(character) < ' ' ? " " : as_it_is;
  }
}

}  // namespace

std::string EscapeHtml(std::string_view text) {
  std::string html;
  for (std::size_t i = 0; i < text.size(); ++i) {
    html += Escaped(text[i], text.substr(i, 1));
  }
  return html;
}

// Escapes line by line, since EscapeHtml turns a line break into a blank.
std::string EscapeLines(const std::string& text) {
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  for (std::string& line : lines) line = EscapeHtml(line);
  return absl::StrJoin(lines, "\n");
}

}  // namespace semrank
