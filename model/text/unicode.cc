#include "model/text/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <iterator>
#include <utility>

#include "absl/strings/str_format.h"

namespace semrank {
namespace {

constexpr std::int32_t kRightSingleQuotationMark = 0x2019;

// Unicode's longest compatibility decomposition (U+FDFA) has 18 code points.
constexpr int kMaxDecomposition = 32;

// No text is known that needs more than two folds. The bound keeps a future
// Unicode table from causing an endless loop.
constexpr int kMaxFolds = 8;

int CombiningClass(std::int32_t code_point) {
  return utf8proc_get_property(code_point)->combining_class;
}

bool LowerClass(std::int32_t a, std::int32_t b) {
  return CombiningClass(a) < CombiningClass(b);
}

void AppendDecomposition(std::int32_t code_point, utf8proc_option_t options,
                         CodePoints& out) {
  if (code_point < 0x80) {  // fast path: ASCII has no decompositions
    const bool fold = (options & UTF8PROC_CASEFOLD) != 0;
    out.push_back(fold && code_point >= 'A' && code_point <= 'Z'
                      ? code_point - 'A' + 'a'
                      : code_point);
    return;
  }
  utf8proc_int32_t buffer[kMaxDecomposition];
  const utf8proc_ssize_t length = utf8proc_decompose_char(
      code_point, buffer, kMaxDecomposition, options, nullptr);
  assert(length >= 0 && length <= kMaxDecomposition);
  if (length < 0 || length > kMaxDecomposition) {
    out.push_back(code_point);
  } else {
    out.insert(out.end(), buffer, buffer + length);
  }
}

// Canonical order: sorts each run of marks by combining class, stably.
// utf8proc_decompose does this by exchanging neighbours, which takes hours for
// a malicious megabyte of marks.
void OrderMarks(CodePoints& text) {
  auto run = text.begin();
  while (run != text.end()) {
    if (*run < 0x300 || CombiningClass(*run) == 0) {  // U+0300 is the first
      ++run;
      continue;
    }
    const auto end = std::find_if(std::next(run), text.end(), [](auto c) {
      return CombiningClass(c) == 0;
    });
    if (!std::is_sorted(run, end, LowerClass)) {
      std::stable_sort(run, end, LowerClass);
    }
    run = end;
  }
}

// Decomposes by `options`, then composes canonically.
CodePoints Recompose(const CodePoints& in, utf8proc_option_t options) {
  CodePoints out;
  out.reserve(in.size());
  for (const std::int32_t code_point : in) {
    AppendDecomposition(code_point, options, out);
  }
  OrderMarks(out);
  // This function expects canonical order and composes in place, so the result
  // is never longer. UTF8PROC_STABLE omits the compositions that Unicode
  // excludes, as NFC and NFKC demand.
  const utf8proc_ssize_t length = utf8proc_normalize_utf32(
      out.data(), static_cast<utf8proc_ssize_t>(out.size()),
      static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE));
  assert(length >= 0);
  out.resize(static_cast<std::size_t>(std::max<utf8proc_ssize_t>(length, 0)));
  return out;
}

// NFKC of `in`, or of its case folding.
CodePoints ComposeCompatible(const CodePoints& in, bool fold) {
  return Recompose(
      in, static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT |
                                         (fold ? UTF8PROC_CASEFOLD : 0)));
}

}  // namespace

int DecodeFirstOf(std::string_view text, std::int32_t& code_point) {
  return static_cast<int>(utf8proc_iterate(
      reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
      static_cast<utf8proc_ssize_t>(text.size()), &code_point));
}

void AppendUtf8(std::int32_t code_point, std::string& text) {
  std::array<char, 4> bytes;
  text.append(bytes.data(), EncodeTo(code_point, bytes.data()));
}

absl::Status DecodeUtf8(std::string_view text, CodePoints& code_points) {
  code_points.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    std::int32_t code_point;
    const int length = DecodeFirstOf(text.substr(i), code_point);
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

void EncodeUtf8(const CodePoints& code_points, std::string& text) {
  // Reserves the most bytes that UTF-8 needs for a code point, and truncates at
  // the end.
  text.resize(code_points.size() * 4);
  auto* const begin = reinterpret_cast<utf8proc_uint8_t*>(text.data());
  auto* out = begin;
  for (const std::int32_t code_point : code_points) {
    out += utf8proc_encode_char(code_point, out);
  }
  text.resize(static_cast<std::size_t>(out - begin));
}

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

bool FoldsToItself(std::int32_t code_point) {
  utf8proc_int32_t first;
  const utf8proc_ssize_t size = utf8proc_decompose_char(
      code_point, &first, 1,
      static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT |
                                     UTF8PROC_CASEFOLD),
      nullptr);
  return size == 1 && first == code_point;
}

CodePoints ComposeCanonical(const CodePoints& text) {
  return Recompose(text, UTF8PROC_DECOMPOSE);
}

void FoldToFixedPoint(CodePoints& text) {
  // Marks must be in canonical order before they are folded: U+0345 (iota
  // subscript) turns into a letter, and what followed it would change its base.
  text = ComposeCompatible(text, /*fold=*/false);
  for (int i = 0; i < kMaxFolds; ++i) {
    CodePoints folded = ComposeCompatible(text, /*fold=*/true);
    if (folded == text) return;
    text = std::move(folded);
  }
}

}  // namespace semrank
