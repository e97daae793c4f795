// Text to words, the same way for queries, titles, training and serving: valid
// UTF-8, NFKC, case fold; every character that is not a letter, a mark or a
// number becomes a blank, except that apostrophes between letters are dropped
// ("McDonald's" -> "mcdonalds"). Blanks separate words. Numbers stay, and there
// is no stemming (DSSM 4.1, CLSM 3.2).
//
//   Result   words joined by single blanks, none at the ends; may be empty.
//            Normalising a result again changes nothing.
//   Errors   InvalidArgument with the offset of the first invalid byte.
#ifndef SEMRANK_MODEL_TEXT_NORMALIZER_H_
#define SEMRANK_MODEL_TEXT_NORMALIZER_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace semrank {

// Every model stores this version. Increase it with each change after which a
// text may normalise differently.
inline constexpr int kNormalizerVersion = 1;

// Replaces `normalized`, reusing its memory; `text` must not point into it. It
// is empty after an error.
absl::Status NormalizeText(std::string_view text, std::string& normalized);

absl::StatusOr<std::string> NormalizeText(std::string_view text);

// Calls visit(std::string_view word) for each word of a normalised text.
template <typename Visitor>
void ForEachWord(std::string_view normalized, Visitor visit) {
  while (!normalized.empty()) {
    const std::size_t end = normalized.find(' ');
    visit(normalized.substr(0, end));
    if (end == std::string_view::npos) return;
    normalized.remove_prefix(end + 1);
  }
}

// Calls visit(std::string_view bigram) for each two adjacent words of a
// normalised text, "first second" as they stand there.
template <typename Visitor>
void ForEachBigram(std::string_view normalized, Visitor visit) {
  std::size_t begin = 0;
  std::size_t second = normalized.find(' ');
  while (second != std::string_view::npos) {
    const std::size_t end = normalized.find(' ', second + 1);
    visit(normalized.substr(begin, end == std::string_view::npos
                                       ? std::string_view::npos
                                       : end - begin));
    begin = second + 1;
    second = end;
  }
}

}  // namespace semrank

#endif  // SEMRANK_MODEL_TEXT_NORMALIZER_H_
