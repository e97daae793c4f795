#include "model/cli/terminal_text.h"

#include <utf8proc.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/strings/str_format.h"

namespace semrank {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

struct Character {
  std::string_view bytes;
  utf8proc_int32_t code_point;  // -1: not UTF-8, one byte
};

// Takes the first character off `text`, which is not empty.
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
// "Trojan Source", CVE-2021-42574). Joiners stay: emoji and Indic scripts need
// them.
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

}  // namespace

bool IsValidUtf8(std::string_view text) {
  while (!text.empty()) {
    // Eight bytes of ASCII at once: commands check every line that they read.
    std::uint64_t word;
    if (text.size() >= sizeof(word)) {
      std::memcpy(&word, text.data(), sizeof(word));
      if ((word & 0x8080808080808080) == 0) {
        text.remove_prefix(sizeof(word));
        continue;
      }
    }
    if (TakeCharacter(text).code_point < 0) return false;
  }
  return true;
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
  while (!text.empty()) {
    const Character character = TakeCharacter(text);
    if (character.code_point < 0) {
      escaped += kReplacement;
    } else if (ControlsTerminal(character.code_point)) {
      escaped += absl::StrFormat("\\u%04x", character.code_point);
    } else {
      escaped += character.bytes;
    }
  }
  return escaped;
}

}  // namespace semrank
