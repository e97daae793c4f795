// Prepares text for a terminal. The input may be any bytes: each byte that is
// not part of valid UTF-8 counts as, and is shown as, one U+FFFD.
//
//   Threads  thread-safe free functions.
#ifndef SEMRANK_MODEL_CLI_TERMINAL_TEXT_H_
#define SEMRANK_MODEL_CLI_TERMINAL_TEXT_H_

#include <string>
#include <string_view>

namespace semrank {

bool IsValidUtf8(std::string_view text);

// Columns of the text: 2 for wide East Asian characters, 0 for combining marks.
// Joined emoji count as the sum of their parts.
int DisplayWidth(std::string_view text);

// Escapes what could control a terminal: control characters, line and paragraph
// separators and direction overrides become \u001b and the like. The result is
// also valid, and means the same, inside a JSON string.
std::string EscapeControls(std::string_view text);

// Appends the text as a JSON string, quotes included, with the same characters
// escaped and those that JSON does not allow.
void AppendJsonString(std::string_view text, std::string& json);

}  // namespace semrank

#endif  // SEMRANK_MODEL_CLI_TERMINAL_TEXT_H_
