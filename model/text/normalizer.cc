#include "model/text/normalizer.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_format.h"
#include "model/text/character_class.h"
#include "model/text/simple_characters.h"
#include "model/text/unicode_fold.h"

namespace semrank {
namespace {

// What an ASCII byte becomes: a letter or number, blank or apostrophe; 0 for
// other bytes.
constexpr std::array<char, 256> MakeAsciiTable() {
  std::array<char, 256> table{};
  for (int byte = 0; byte < 128; ++byte) {
    const bool upper = byte >= 'A' && byte <= 'Z';
    const bool kept = byte == '\'' || (byte >= 'a' && byte <= 'z') ||
                      (byte >= '0' && byte <= '9');
    table[byte] = upper  ? static_cast<char>(byte - 'A' + 'a')
                  : kept ? static_cast<char>(byte)
                         : ' ';
  }
  return table;
}

constexpr std::array<char, 256> kAsciiTable = MakeAsciiTable();

char AsciiCharacter(char byte) {
  return kAsciiTable[static_cast<unsigned char>(byte)];
}

bool IsAsciiWord(char ascii) { return ascii > '\''; }

// Code point at the front of `text`, which is not empty; its bytes, or less
// than 1 if it is not valid UTF-8.
utf8proc_ssize_t DecodeFirst(std::string_view text,
                             utf8proc_int32_t& code_point) {
  return utf8proc_iterate(
      reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
      static_cast<utf8proc_ssize_t>(text.size()), &code_point);
}

// What the first character becomes and, in `size`, how many bytes it has. Not
// simple: num_bytes 0, also for bytes that are not UTF-8.
SimpleCharacter FirstCharacter(std::string_view text, std::size_t& size) {
  size = 1;
  if (const char ascii = AsciiCharacter(text[0]); ascii != 0) {
    return {{ascii}, 1};
  }
  utf8proc_int32_t code_point;
  const utf8proc_ssize_t length = DecodeFirst(text, code_point);
  if (length < 1 || code_point >= kSimpleCharactersEnd) return {{}, 0};
  size = static_cast<std::size_t>(length);
  return GetSimpleCharacters()[static_cast<std::size_t>(code_point)];
}

// Texts of simple characters only. False, with rubbish in `normalized`, at the
// first other one: then the full path decides.
bool NormalizeSimple(std::string_view text, std::string& normalized) {
  normalized.resize(text.size());  // no simple character grows
  char* const begin = normalized.data();
  char* out = begin;
  bool after_blank = true;
  std::size_t size, next_size;
  for (std::size_t i = 0; i < text.size(); i += size) {
    const char ascii = AsciiCharacter(text[i]);
    if (IsAsciiWord(ascii)) {  // first: this is nearly all there is
      *out++ = ascii;
      size = 1;
      after_blank = false;
      continue;
    }
    const SimpleCharacter character = FirstCharacter(text.substr(i), size);
    if (character.num_bytes == 0) return false;
    if (character.is_word()) {
      out = std::copy_n(character.bytes.data(), character.num_bytes, out);
      after_blank = false;
      continue;
    }
    if (after_blank) continue;
    if (character.is_apostrophe() && i + size < text.size()) {
      const SimpleCharacter next =
          FirstCharacter(text.substr(i + size), next_size);
      if (next.num_bytes == 0) return false;
      if (next.is_word()) continue;
    }
    *out++ = ' ';
    after_blank = true;
  }
  if (out != begin && out[-1] == ' ') --out;
  normalized.resize(static_cast<std::size_t>(out - begin));
  return true;
}

absl::Status Decode(std::string_view text, CodePoints& code_points) {
  code_points.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    utf8proc_int32_t code_point;
    const utf8proc_ssize_t length = DecodeFirst(text.substr(i), code_point);
    if (length < 1) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "text is not valid UTF-8 at byte %d of %d (value 0x%02X)", i,
          text.size(), static_cast<unsigned char>(text[i])));
    }
    code_points.push_back(code_point);
    i += static_cast<std::size_t>(length);
  }
  return absl::OkStatus();
}

// Keeps words and single blanks between them. True if an apostrophe was
// dropped, so that letters came together which may compose (Hangul).
bool KeepWords(CodePoints& text) {
  bool dropped_apostrophe = false;
  auto out = text.begin();
  CharacterClass previous = CharacterClass::kBlank;
  for (auto in = text.begin(); in != text.end(); ++in) {
    CharacterClass c = Classify(*in);
    if (c == CharacterClass::kApostrophe) {
      // A mark behind it belongs to the apostrophe, which is then none.
      const bool inside = previous != CharacterClass::kBlank &&
                          in + 1 != text.end() &&
                          Classify(in[1]) == CharacterClass::kWord;
      if (inside) {
        dropped_apostrophe = true;
        continue;
      }
      c = CharacterClass::kBlank;
    }
    if (c != CharacterClass::kBlank) {
      *out++ = *in;
    } else if (previous != CharacterClass::kBlank) {
      *out++ = ' ';
    }
    previous = c;
  }
  if (out != text.begin() && out[-1] == ' ') --out;
  text.erase(out, text.end());
  return dropped_apostrophe;
}

void Encode(const CodePoints& code_points, std::string& text) {
  text.resize(code_points.size() * 4);
  auto* const begin = reinterpret_cast<utf8proc_uint8_t*>(text.data());
  auto* out = begin;
  for (const std::int32_t code_point : code_points) {
    out += utf8proc_encode_char(code_point, out);
  }
  text.resize(static_cast<std::size_t>(out - begin));
}

}  // namespace

absl::Status NormalizeText(std::string_view text, std::string& normalized) {
  if (NormalizeSimple(text, normalized)) return absl::OkStatus();
  CodePoints code_points;
  if (absl::Status status = Decode(text, code_points); !status.ok()) {
    normalized.clear();
    return status;
  }
  FoldToFixedPoint(code_points);
  if (KeepWords(code_points)) FoldToFixedPoint(code_points);
  Encode(code_points, normalized);
  return absl::OkStatus();
}

absl::StatusOr<std::string> NormalizeText(std::string_view text) {
  std::string normalized;
  if (absl::Status status = NormalizeText(text, normalized); !status.ok()) {
    return status;
  }
  return normalized;
}

}  // namespace semrank
