// What a text does on a terminal.
//
//   Input    any bytes; where valid UTF-8 is wanted, each byte that is not
//            counts and shows as one U+FFFD.
//   Threads  free functions, from any thread.
#ifndef SEMRANK_CLIENT_INPUT_UNICODE_H_
#define SEMRANK_CLIENT_INPUT_UNICODE_H_

#include <string>
#include <string_view>

namespace semrank {

bool IsValidUtf8(std::string_view text);

// Columns that the text takes: 2 for wide East Asian characters, 0 for
// combining marks. Add up over characters, so emoji joined into one picture
// count as their parts.
int DisplayWidth(std::string_view text);

// The text with what could drive a terminal made visible: control characters,
// line and paragraph separators and direction overrides become \u001b and the
// like. JSON strings may be escaped so too: they mean the same.
std::string EscapeControls(std::string_view text);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_INPUT_UNICODE_H_
