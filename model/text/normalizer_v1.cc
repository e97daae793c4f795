#include "model/text/normalizer_v1.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>

#include "model/text/unicode.h"

namespace semrank {
namespace {

// Simple characters normalize alone, whatever stands beside them: nearly all
// ordinary text in most scripts. For a text of simple characters one table
// look-up a character replaces the full Unicode algorithms. A character is
// simple when it is not a mark and not a Hangul letter (those compose with
// their neighbours) and folds to only letters and numbers, only blanks, or an
// apostrophe, in no more bytes than it had.
struct SimpleCharacter {
  // UTF-8 of what it becomes: letters and numbers, one ' ', or one apostrophe.
  // A character that needs more than three bytes is not simple.
  std::array<char, 3> bytes = {};
  std::uint8_t num_bytes = 0;  // 0: not simple

  bool is_blank() const { return bytes[0] == ' '; }
  bool is_apostrophe() const { return bytes[0] == '\''; }
  bool is_word() const { return !is_blank() && !is_apostrophe(); }
};

// Code points from here on (rare scripts and ideographs) are never simple.
constexpr std::int32_t kSimpleCharactersEnd = 0x20000;

using SimpleCharacters = std::array<SimpleCharacter, kSimpleCharactersEnd>;

bool IsHangulLetter(std::int32_t code_point) {
  return code_point >= 0x1100 && code_point <= 0x11FF;
}

// The class that all of `text` has, or kMark if `text` is not simple.
CharacterClass CommonClass(const CodePoints& text) {
  const CharacterClass first = Classify(text.front());
  const bool common = std::all_of(text.begin(), text.end(), [&](auto c) {
    return Classify(c) == first && !IsHangulLetter(c);
  });
  return common ? first : CharacterClass::kMark;
}

// What `code_point` becomes alone; empty if it is not simple.
CodePoints FoldAlone(std::int32_t code_point) {
  if (IsSurrogate(code_point)) return {};
  if (Classify(code_point) == CharacterClass::kMark) return {};
  CodePoints folded = {code_point};
  // Most characters do, which saves most of the time that the table takes.
  if (!FoldsToItself(code_point)) FoldToFixedPoint(folded);
  switch (CommonClass(folded)) {
    case CharacterClass::kBlank:
      return {' '};
    case CharacterClass::kApostrophe:
      return {'\''};
    case CharacterClass::kWord:
      return folded;
    default:
      return {};
  }
}

SimpleCharacter MakeSimpleCharacter(std::int32_t code_point) {
  SimpleCharacter simple;
  char buffer[4];
  const int max_bytes = std::min(EncodeTo(code_point, buffer),
                                 static_cast<int>(simple.bytes.size()));
  for (const std::int32_t c : FoldAlone(code_point)) {
    const int more = EncodeTo(c, buffer);
    if (simple.num_bytes + more > max_bytes) return SimpleCharacter();
    std::copy_n(buffer, more, simple.bytes.data() + simple.num_bytes);
    simple.num_bytes = static_cast<std::uint8_t>(simple.num_bytes + more);
  }
  return simple;
}

std::unique_ptr<SimpleCharacters> MakeSimpleCharacters() {
  auto table = std::make_unique<SimpleCharacters>();
  for (std::int32_t c = 0; c < kSimpleCharactersEnd; ++c) {
    (*table)[static_cast<std::size_t>(c)] = MakeSimpleCharacter(c);
  }
  return table;
}

// The table, indexed by code point. The first call builds it in about 10 ms; it
// takes 512 KiB.
const SimpleCharacters& GetSimpleCharacters() {
  // The table is never destroyed: threads may still normalize while the
  // process ends.
  static const SimpleCharacters* const table = MakeSimpleCharacters().release();
  return *table;
}

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

// Blank and apostrophe come before digits and letters in ASCII. So does 0,
// which stands for bytes beyond ASCII.
bool IsAsciiWord(char ascii) { return ascii > '\''; }

// What the first character of `text` becomes; sets `size` to its bytes.
// num_bytes is 0 when it is not simple or not valid UTF-8.
SimpleCharacter FirstCharacter(std::string_view text, std::size_t& size) {
  size = 1;
  if (const char ascii = AsciiCharacter(text[0]); ascii != 0) {
    return {{ascii}, 1};
  }
  utf8proc_int32_t code_point;
  const int length = DecodeFirstOf(text, code_point);
  if (length < 1 || code_point >= kSimpleCharactersEnd) return {{}, 0};
  size = static_cast<std::size_t>(length);
  return GetSimpleCharacters()[static_cast<std::size_t>(code_point)];
}

constexpr std::size_t kPlainBytes = 8;

// Whether kPlainBytes bytes are ASCII without apostrophes.
bool ArePlain(const char* bytes) {
  std::uint64_t word;
  std::memcpy(&word, bytes, sizeof(word));
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  // Borrows reach a byte's highest bit only from a byte that is 0.
  const std::uint64_t no_apostrophe = word ^ ('\'' * kOnes);
  const std::uint64_t apostrophe = (no_apostrophe - kOnes) & ~no_apostrophe;
  return ((word | apostrophe) & (0x80 * kOnes)) == 0;
}

// Normalizes a text of simple characters only. At the first other one it
// returns false, with `normalized` unspecified: the full path decides.
bool NormalizeSimple(std::string_view text, std::string& normalized) {
  normalized.resize(text.size());  // no simple character grows
  char* const begin = normalized.data();
  char* out = begin;
  bool after_blank = true;
  std::size_t size, next_size;
  for (std::size_t i = 0; i < text.size(); i += size) {
    // This loop handles nearly all bytes of most texts. A branch for each byte
    // would be mispredicted at the ends of words.
    if (i + kPlainBytes <= text.size() && ArePlain(text.data() + i)) {
      for (std::size_t k = i; k < i + kPlainBytes; ++k) {
        const char ascii = AsciiCharacter(text[k]);
        const bool blank = ascii == ' ';
        *out = ascii;
        out += !(blank && after_blank);
        after_blank = blank;
      }
      size = kPlainBytes;
      continue;
    }
    const char ascii = AsciiCharacter(text[i]);
    if (IsAsciiWord(ascii)) {
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
      // Whether the apostrophe is inside a word depends on a character that
      // only the full path can judge.
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

// Keeps words and single blanks between them. True if an apostrophe was
// dropped: the letters beside it are now neighbours and may compose (Hangul).
bool KeepWords(CodePoints& text) {
  bool dropped_apostrophe = false;
  auto out = text.begin();
  CharacterClass previous = CharacterClass::kBlank;
  for (auto in = text.begin(); in != text.end(); ++in) {
    CharacterClass c = Classify(*in);
    if (c == CharacterClass::kApostrophe) {
      // An apostrophe before a mark is not inside: the mark combines with it.
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

}  // namespace

void NormalizePlainAscii(std::string_view text, std::string& normalized) {
  normalized.resize(text.size());
  char* const begin = normalized.data();
  char* out = begin;
  bool after_blank = true;
  for (const char byte : text) {
    const char ascii = AsciiCharacter(byte);
    const bool blank = ascii == ' ';
    *out = ascii;
    out += !(blank && after_blank);
    after_blank = blank;
  }
  if (out != begin && out[-1] == ' ') --out;
  normalized.resize(static_cast<std::size_t>(out - begin));
}

absl::Status NormalizeTextV1(std::string_view text, std::string& normalized) {
  if (NormalizeSimple(text, normalized)) return absl::OkStatus();
  CodePoints code_points;
  if (absl::Status status = DecodeUtf8(text, code_points); !status.ok()) {
    normalized.clear();
    return status;
  }
  // Folds first, because a sign can fold to letters, which are then kept:
  // U+2122 (trade mark) becomes "tm".
  FoldToFixedPoint(code_points);
  if (KeepWords(code_points)) FoldToFixedPoint(code_points);
  EncodeUtf8(code_points, normalized);
  return absl::OkStatus();
}

}  // namespace semrank
