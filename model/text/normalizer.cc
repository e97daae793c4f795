#include "model/text/normalizer.h"

#include <utf8proc.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_format.h"
#include "model/text/unicode_fold.h"

namespace semrank {
namespace {

enum class CharacterClass : std::uint8_t { kWord, kMark, kApostrophe, kBlank };

constexpr std::int32_t kRightSingleQuotationMark = 0x2019;

CharacterClass Classify(std::int32_t code_point) {
  if (code_point == '\'' || code_point == kRightSingleQuotationMark) {
    return CharacterClass::kApostrophe;
  }
  switch (utf8proc_category(code_point)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return CharacterClass::kWord;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return CharacterClass::kMark;
    default:
      return CharacterClass::kBlank;
  }
}

// What an ASCII byte becomes: itself in lower case, or one of these.
constexpr char kBlank = ' ';
constexpr char kApostrophe = '\'';
constexpr char kNotAscii = '\x80';

constexpr std::array<char, 256> MakeAsciiTable() {
  std::array<char, 256> table{};
  for (int byte = 0; byte < 256; ++byte) {
    const bool upper = byte >= 'A' && byte <= 'Z';
    const bool kept =
        (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9');
    table[byte] = byte >= 0x80 ? kNotAscii
                  : upper      ? static_cast<char>(byte - 'A' + 'a')
                  : kept       ? static_cast<char>(byte)
                               : kBlank;
  }
  table['\''] = kApostrophe;
  return table;
}

constexpr std::array<char, 256> kAsciiTable = MakeAsciiTable();

char AsciiClass(char byte) {
  return kAsciiTable[static_cast<unsigned char>(byte)];
}

bool IsAsciiWord(char ascii_class) {
  return ascii_class != kBlank && ascii_class != kApostrophe &&
         ascii_class != kNotAscii;
}

// False, with rubbish in `normalized`, when a byte is not ASCII.
bool NormalizeAscii(std::string_view text, std::string& normalized) {
  normalized.resize(text.size());
  char* const begin = normalized.data();
  char* out = begin;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = AsciiClass(text[i]);
    if (c == kNotAscii) return false;
    if (c == kApostrophe) {
      const char next = i + 1 < text.size() ? AsciiClass(text[i + 1]) : kBlank;
      if (next == kNotAscii) return false;
      const bool after_word = i > 0 && IsAsciiWord(AsciiClass(text[i - 1]));
      if (after_word && IsAsciiWord(next)) continue;
      c = kBlank;
    }
    if (c == kBlank && (out == begin || out[-1] == kBlank)) continue;
    *out++ = c;
  }
  if (out != begin && out[-1] == kBlank) --out;
  normalized.resize(static_cast<std::size_t>(out - begin));
  return true;
}

absl::Status Decode(std::string_view text, CodePoints& code_points) {
  const auto* const bytes =
      reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const auto size = static_cast<utf8proc_ssize_t>(text.size());
  code_points.reserve(text.size());
  for (utf8proc_ssize_t i = 0; i < size;) {
    utf8proc_int32_t code_point;
    const utf8proc_ssize_t length =
        utf8proc_iterate(bytes + i, size - i, &code_point);
    if (length <= 0) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "text is not valid UTF-8 at byte %d of %d (value 0x%02X)", i, size,
          bytes[i]));
    }
    code_points.push_back(code_point);
    i += length;
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
  auto* out = reinterpret_cast<utf8proc_uint8_t*>(text.data());
  for (const std::int32_t code_point : code_points) {
    out += utf8proc_encode_char(code_point, out);
  }
  text.resize(
      static_cast<std::size_t>(reinterpret_cast<char*>(out) - text.data()));
}

}  // namespace

absl::Status NormalizeText(std::string_view text, std::string& normalized) {
  if (NormalizeAscii(text, normalized)) return absl::OkStatus();
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
