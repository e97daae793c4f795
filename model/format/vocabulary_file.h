// ngrams.txt, words.txt and bigrams.txt: one entry a line, the line number is
// the index (FORMAT.md).
#ifndef SEMRANK_MODEL_FORMAT_VOCABULARY_FILE_H_
#define SEMRANK_MODEL_FORMAT_VOCABULARY_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/text/featurizer.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

// InvalidArgument unless there are `num_lines` lines, all ended, of valid
// UTF-8. The entries themselves are checked by the vocabularies.
absl::StatusOr<std::vector<std::string>> ParseLines(std::string_view content,
                                                    std::int64_t num_lines);
std::string FormatLines(const std::vector<std::string>& lines);

// InvalidArgument unless `spec` describes the vocabularies of `featurizer`.
absl::Status CheckSpec(const v1::FeatureSpec& spec,
                       const Featurizer& featurizer);

}  // namespace semrank

#endif  // SEMRANK_MODEL_FORMAT_VOCABULARY_FILE_H_
