#include "model/eval/rankers/word_features.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/text/vocabulary_builder.h"

namespace semrank {

absl::StatusOr<Featurizer> WordFeatures(
    std::string_view ranker, const std::vector<std::string>& documents) {
  VocabularyBuilder builder;
  for (const std::string& document : documents) builder.AddText(document);
  if (builder.num_distinct_words() == 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: no document has a word", ranker));
  }
  // All words, also those of one document: a rare word is what finds a
  // document best.
  SEMRANK_ASSIGN_OR_RETURN(WordVocabulary words,
                           WordVocabulary::FromList(builder.Words(0, 1)));
  return Featurizer::Create(std::nullopt, std::move(words));
}

float LengthInWords(std::string_view text) {
  if (text.empty()) return 0;
  const auto num_separators =
      std::count(text.begin(), text.end(), ' ') +
      std::count(text.begin(), text.end(), kFurtherWords);
  return static_cast<float>(1 + num_separators);
}

std::vector<float> LengthsInWords(const std::vector<std::string>& documents) {
  std::vector<float> lengths;
  lengths.reserve(documents.size());
  for (const std::string& document : documents) {
    lengths.push_back(LengthInWords(document));
  }
  return lengths;
}

}  // namespace semrank
