#include "model/text/name_match.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "model/base/strings.h"
#include "model/text/letter_windows.h"
#include "model/text/normalizer.h"
#include "model/text/unicode.h"

namespace semrank {
namespace {

// Single blanks separate the words of a normalised text.
constexpr char kBlank = ' ';
constexpr std::size_t kMinLettersOfTypo = 4;

// kPrefix, kUnfinishedName or kNone.
NameMatch MatchStart(std::string_view query, std::string_view name) {
  if (!name.starts_with(query)) return NameMatch::kNone;
  return name.find(kBlank, query.size()) == std::string_view::npos
             ? NameMatch::kUnfinishedName
             : NameMatch::kPrefix;
}

// The offset of the first letter that differs, or the end of the shorter text
// if none does.
std::size_t FirstDifference(std::string_view a, std::string_view b) {
  const auto ends = std::mismatch(
      a.begin(), a.begin() + std::min(a.size(), b.size()), b.begin());
  std::size_t at = ends.first - a.begin();
  // Letters that differ may share their first bytes (U+00E4 is C3 A4, U+00F6 is
  // C3 B6), so this goes back to the start of both.
  const auto begins_in = [&at](std::string_view text) {
    return at == text.size() || BeginsCharacter(text[at]);
  };
  while (at > 0 && !(begins_in(a) && begins_in(b))) --at;
  return at;
}

bool IsDigit(std::string_view text, std::size_t at) {
  return at < text.size() && text[at] >= '0' && text[at] <= '9';
}

// Whether an edit at `at`, the first difference, leaves texts that `match`.
template <typename Match>
bool MatchAfterEdit(std::string_view a, std::string_view b, std::size_t at,
                    Match match) {
  // Whether the texts match after i bytes of a and j bytes of b. One edit can
  // always be moved to the first difference: nothing differs before it, and in
  // a run of equal letters it does not matter which of them was deleted.
  const auto rests_match = [&](std::size_t i, std::size_t j) {
    return match(a.substr(at + i), b.substr(at + j));
  };
  const std::size_t of_a = FirstCharacterBytes(a.substr(at)),
                    of_b = FirstCharacterBytes(b.substr(at));
  const bool a_digit = IsDigit(a, at), b_digit = IsDigit(b, at);
  // In this order: a letter too many, one too few, another letter, two letters
  // swapped. A swap with a digit is already excluded, as one of the texts has
  // the digit first.
  if (of_a > 0 && !a_digit && rests_match(of_a, 0)) return true;
  if (of_b > 0 && !b_digit && rests_match(0, of_b)) return true;
  if (of_a == 0 || of_b == 0 || a_digit || b_digit) return false;
  if (rests_match(of_a, of_b)) return true;
  const std::size_t next_a = FirstCharacterBytes(a.substr(at + of_a)),
                    next_b = FirstCharacterBytes(b.substr(at + of_b));
  return a.substr(at, of_a) == b.substr(at + of_b, next_b) &&
         b.substr(at, of_b) == a.substr(at + of_a, next_a) &&
         rests_match(of_a + next_a, of_b + next_b);
}

bool IsAscii(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

CodePoints Composed(std::string_view text) {
  CodePoints code_points;
  // Cannot fail: the text is valid UTF-8.
  DecodeUtf8(text, code_points).IgnoreError();
  return ComposeCanonical(code_points);
}

}  // namespace

bool IsOneEditApart(std::string_view a, std::string_view b) {
  const std::size_t at = FirstDifference(a, b);
  // At 0 the first letters differ, which is not taken for a typo.
  if (at == 0 || (at == a.size() && at == b.size())) return false;
  return MatchAfterEdit(
      a, b, at, [](std::string_view x, std::string_view y) { return x == y; });
}

bool MayBeOneEditApart(std::string_view a, std::string_view b) {
  const std::size_t at = FirstDifference(a, b);
  // The known part of one text ends before any difference.
  if (at == a.size() || at == b.size()) return true;
  return at > 0 &&
         MatchAfterEdit(a, b, at, [](std::string_view x, std::string_view y) {
           return x.starts_with(y) || y.starts_with(x);
         });
}

bool ForgivesEdit(std::string_view query) {
  return CountCodePoints(query) >= kMinLettersOfTypo;
}

NameMatch MatchName(std::string_view query, std::string_view id,
                    std::string_view title) {
  const bool same_spelling = id == query || title == query;
  query = MainWords(query);
  id = MainWords(id);
  title = MainWords(title);
  if (query.empty()) return NameMatch::kNone;
  if (id == query || title == query) {
    return same_spelling ? NameMatch::kSameSpelling : NameMatch::kName;
  }
  // The title is longer than the query: an equal one has returned.
  if (title.starts_with(query) && title[query.size()] == kBlank) {
    return NameMatch::kLeadingWords;
  }
  const NameMatch match =
      std::max(MatchStart(query, id), MatchStart(query, title));
  if (match != NameMatch::kNone || !ForgivesEdit(query)) return match;
  return IsOneEditApart(query, id) || IsOneEditApart(query, title)
             ? NameMatch::kOneEdit
             : NameMatch::kNone;
}

bool IsSameText(std::string_view a, std::string_view b) {
  a = ToStd(absl::StripAsciiWhitespace(ToAbsl(a)));
  b = ToStd(absl::StripAsciiWhitespace(ToAbsl(b)));
  if (a == b) return true;
  // NFC leaves ASCII as it is, and composing takes longer than all else here.
  return !(IsAscii(a) && IsAscii(b)) && Composed(a) == Composed(b);
}

}  // namespace semrank
