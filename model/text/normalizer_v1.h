// The rules of models of normalizer version 1: NFKC, case fold; every character
// that is not a letter, a mark or a number becomes a blank, except that
// apostrophes between letters are dropped ("McDonald's" -> "mcdonalds"). Blanks
// separate words. Numbers stay, and there is no stemming (DSSM 4.1, CLSM 3.2).
//
//   Frozen   published models depend on every bit: a change of rules needs a
//            new version.
#ifndef SEMRANK_MODEL_TEXT_NORMALIZER_V1_H_
#define SEMRANK_MODEL_TEXT_NORMALIZER_V1_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace semrank {

// NormalizeText of version 1.
absl::Status NormalizeTextV1(std::string_view text, std::string& normalized);
// The same for a text that is ASCII without apostrophes.
void NormalizePlainAscii(std::string_view text, std::string& normalized);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TEXT_NORMALIZER_V1_H_
