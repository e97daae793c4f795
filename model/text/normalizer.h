// Text to words, the same way for queries, titles, training and serving, in
// every language. TEXT.md describes the rules with examples.
//
//   Result   words joined by single blanks, none at the ends; may be empty.
//            From version 2 on, a tab may follow, and then further words that
//            only add features: "C++" gives "c\tc++".
//   Words    Normalising the words again changes none of them.
//   Versions a model keeps the rules that it was trained with, bit for bit.
//            normalizer_v1.h and normalizer_v2.h state the rules.
//   Errors   InvalidArgument with the offset of the first invalid byte.
#ifndef SEMRANK_MODEL_TEXT_NORMALIZER_H_
#define SEMRANK_MODEL_TEXT_NORMALIZER_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/text/normalized_text.h"  // IWYU pragma: export

namespace semrank {

// The version of new models. Every model stores its own. Increase this with
// each change after which a text may normalise differently.
inline constexpr int kNormalizerVersion = 2;

// Replaces `normalized`, reusing its memory; `text` must not point into it. It
// is empty after an error. `version` is from 1 to kNormalizerVersion.
absl::Status NormalizeText(std::string_view text, int version,
                           std::string& normalized);

absl::StatusOr<std::string> NormalizeText(std::string_view text,
                                          int version = kNormalizerVersion);

// As NormalizeText, by the rules for names (name_match.h), which do not depend
// on a model: words do not end where the script changes, and have no accents.
// The further words show how the text was spelled.
absl::Status NormalizeName(std::string_view text, std::string& normalized);

absl::StatusOr<std::string> NormalizeName(std::string_view text);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TEXT_NORMALIZER_H_
