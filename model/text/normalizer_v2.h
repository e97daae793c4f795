// The rules of version 2, for text in every language (TEXT.md):
//
//   Fold     NFKC and case folding to a fixed point; characters that are
//            invisible are removed first, and then the accents and vowel points
//            that writers of other scripts than Latin omit.
//   Words    letters, marks and numbers. A word ends where the script changes
//            to or from one that writes no blanks, and each ideograph and each
//            emoji is a word, so that its neighbours do not hide it. A mark
//            without a letter is dropped, apostrophes inside words are.
//   Further  a run of letters and signs as it is spelled ("c++", "at&t",
//            "3.5"), so that the exact spelling scores higher; a Hangul word in
//            letters, so that inflected ones have n-grams in common.
//   Memory   the result has at most 16 times the bytes of the text.
#ifndef SEMRANK_MODEL_TEXT_NORMALIZER_V2_H_
#define SEMRANK_MODEL_TEXT_NORMALIZER_V2_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace semrank {

enum class WordForm {
  kFeatures,  // NormalizeText
  kName,      // NormalizeName
};

absl::Status NormalizeTextV2(std::string_view text, WordForm form,
                             std::string& normalized);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TEXT_NORMALIZER_V2_H_
