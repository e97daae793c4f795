#include "model/text/utf8.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "absl/strings/str_format.h"

namespace semrank {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

struct Character {
  std::string_view bytes;
  utf8proc_int32_t code_point;  // -1 for a byte that is not UTF-8
};

// Removes the first character from `text`, which is not empty, and returns it.
Character TakeCharacter(std::string_view& text) {
  utf8proc_int32_t code_point = -1;
  const utf8proc_ssize_t length =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                       static_cast<utf8proc_ssize_t>(text.size()), &code_point);
  const std::size_t size = length > 0 ? static_cast<std::size_t>(length) : 1;
  const Character character{text.substr(0, size), length > 0 ? code_point : -1};
  text.remove_prefix(size);
  return character;
}

// A direction override in a title would reorder the rest of the line (as in
// "Trojan Source", CVE-2021-42574). Joiners are not escaped: emoji and Indic
// scripts need them.
bool IsDirectionControl(utf8proc_int32_t code_point) {
  return code_point == 0x061C || code_point == 0x200E || code_point == 0x200F ||
         (code_point >= 0x202A && code_point <= 0x202E) ||
         (code_point >= 0x2066 && code_point <= 0x2069);
}

bool ControlsTerminal(utf8proc_int32_t code_point) {
  const utf8proc_category_t category = utf8proc_category(code_point);
  // Control characters, which begin escape sequences, and the separators of
  // lines and paragraphs.
  return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_ZL ||
         category == UTF8PROC_CATEGORY_ZP || IsDirectionControl(code_point);
}

void AppendEscapingControls(const Character& character, std::string& to) {
  if (character.code_point < 0) {
    to += kReplacement;
  } else if (ControlsTerminal(character.code_point)) {
    absl::StrAppendFormat(&to, "\\u%04x", character.code_point);
  } else {
    to += character.bytes;
  }
}

// ASCII that stands for itself in a JSON string and on a terminal.
bool IsPlain(char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; }

// The character after the backslash of JSON's short escape, or 0 where JSON
// has none.
char ShortEscape(utf8proc_int32_t code_point) {
  switch (code_point) {
    case '"':
    case '\\':
      return static_cast<char>(code_point);
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    default:
      return 0;
  }
}

}  // namespace

std::size_t ValidUtf8Bytes(std::string_view text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    // Skips eight bytes of ASCII at once: commands check every line that
    // they read.
    std::uint64_t word;
    if (rest.size() >= sizeof(word)) {
      std::memcpy(&word, rest.data(), sizeof(word));
      if ((word & 0x8080808080808080) == 0) {
        rest.remove_prefix(sizeof(word));
        continue;
      }
    }
    const std::size_t num_valid = text.size() - rest.size();
    if (TakeCharacter(rest).code_point < 0) return num_valid;
  }
  return text.size();
}

int DisplayWidth(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const utf8proc_int32_t code_point = TakeCharacter(text).code_point;
    width += code_point < 0 ? 1 : utf8proc_charwidth(code_point);
  }
  return width;
}

std::string EscapeControls(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  while (!text.empty()) AppendEscapingControls(TakeCharacter(text), escaped);
  return escaped;
}

void AppendJsonString(std::string_view text, std::string& json) {
  json += '"';
  while (!text.empty()) {
    const auto special = std::ranges::find_if_not(text, IsPlain);
    const auto num_plain = static_cast<std::size_t>(special - text.begin());
    json.append(text, 0, num_plain);
    text.remove_prefix(num_plain);
    if (text.empty()) break;
    const Character character = TakeCharacter(text);
    if (const char escape = ShortEscape(character.code_point); escape != 0) {
      json += '\\';
      json += escape;
    } else {
      AppendEscapingControls(character, json);
    }
  }
  json += '"';
}

}  // namespace semrank
