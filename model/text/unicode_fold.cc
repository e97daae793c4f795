#include "model/text/unicode_fold.h"

#include <utf8proc.h>

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

namespace semrank {
namespace {

// Unicode's longest compatibility decomposition (U+FDFA) has 18 code points.
constexpr int kMaxDecomposition = 32;

// No text is known that needs more than two; the bound only keeps a future
// Unicode table from looping for ever.
constexpr int kMaxFolds = 8;

int CombiningClass(std::int32_t code_point) {
  return utf8proc_get_property(code_point)->combining_class;
}

bool LowerClass(std::int32_t a, std::int32_t b) {
  return CombiningClass(a) < CombiningClass(b);
}

void AppendDecomposition(std::int32_t code_point, utf8proc_option_t options,
                         CodePoints& out) {
  if (code_point < 0x80) {  // spares the call; ASCII has no decompositions
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

// Canonical order: each run of marks by combining class, equals as they were.
// utf8proc_decompose would do this by exchanging neighbours, which takes hours
// for a hostile megabyte of marks.
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

// NFKC of `in`, of its case folding if `fold`.
CodePoints ComposeCompatible(const CodePoints& in, bool fold) {
  const auto options = static_cast<utf8proc_option_t>(
      UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT | (fold ? UTF8PROC_CASEFOLD : 0));
  CodePoints out;
  out.reserve(in.size());
  for (const std::int32_t code_point : in) {
    AppendDecomposition(code_point, options, out);
  }
  OrderMarks(out);
  const utf8proc_ssize_t length = utf8proc_normalize_utf32(
      out.data(), static_cast<utf8proc_ssize_t>(out.size()),
      static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE));
  assert(length >= 0);
  out.resize(static_cast<std::size_t>(std::max<utf8proc_ssize_t>(length, 0)));
  return out;
}

}  // namespace

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
