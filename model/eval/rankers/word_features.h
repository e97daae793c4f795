// The words of a collection, as the features of word rankers.
#ifndef SEMRANK_MODEL_EVAL_RANKERS_WORD_FEATURES_H_
#define SEMRANK_MODEL_EVAL_RANKERS_WORD_FEATURES_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/text/featurizer.h"

namespace semrank {

// A featurizer of every word of the normalised `documents`. InvalidArgument,
// which begins with `ranker`, if there is none.
absl::StatusOr<Featurizer> WordFeatures(
    std::string_view ranker, const std::vector<std::string>& documents);

// The number of words of a normalised text, and of each document.
float LengthInWords(std::string_view text);
std::vector<float> LengthsInWords(const std::vector<std::string>& documents);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_RANKERS_WORD_FEATURES_H_
