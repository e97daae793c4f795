// Text as the content or an attribute of an HTML or SVG element.
#ifndef SEMRANK_MODEL_HTML_HTML_TEXT_H_
#define SEMRANK_MODEL_HTML_HTML_TEXT_H_

#include <string>
#include <string_view>

namespace semrank {

// `text` with & < > " ' as character references, and control characters, which
// HTML does not allow, as blanks: text of a file cannot become markup or a
// script.
std::string EscapeHtml(std::string_view text);

// As EscapeHtml, but keeps line ends.
std::string EscapeLines(const std::string& text);

}  // namespace semrank

#endif  // SEMRANK_MODEL_HTML_HTML_TEXT_H_
