// UTF-8 from files, callers and servers: checks it, and prints it so that it
// cannot control a terminal.
//
//   Input   any bytes. Each byte that is not part of valid UTF-8 counts as one
//           character and is printed as U+FFFD.
#ifndef SEMRANK_MODEL_TEXT_UTF8_H_
#define SEMRANK_MODEL_TEXT_UTF8_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace semrank {

// Bytes before the first one that is not valid UTF-8. Overlong forms,
// surrogates and code points above U+10FFFF are not valid.
std::size_t ValidUtf8Bytes(std::string_view text);
inline bool IsValidUtf8(std::string_view text) {
  return ValidUtf8Bytes(text) == text.size();
}

// Columns of the text on a terminal: 2 for wide East Asian characters, 0 for
// combining marks. Joined emoji count as the sum of their parts.
int DisplayWidth(std::string_view text);

// Replaces control characters, line and paragraph separators and direction
// overrides by \u001b and the like. The result means the same inside a JSON
// string.
std::string EscapeControls(std::string_view text);

// Appends `text` as a JSON string, quotes included, with the characters escaped
// that JSON does not allow and those that EscapeControls replaces.
void AppendJsonString(std::string_view text, std::string& json);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TEXT_UTF8_H_
