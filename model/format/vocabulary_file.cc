#include "model/format/vocabulary_file.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/text/utf8.h"

namespace semrank {
namespace {

// A normalised text is valid UTF-8, so another entry could never match.
absl::Status CheckUtf8(std::string_view text) {
  const std::size_t num_valid = ValidUtf8Bytes(text);
  if (num_valid == text.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("not valid UTF-8 at byte %d", num_valid));
}

absl::Status CheckEqual(std::string_view field, std::int64_t stated,
                        std::int64_t actual) {
  if (stated == actual) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("features.%s is %d, but the vocabularies have %d", field,
                      stated, actual));
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ParseLines(std::string_view content,
                                                    std::int64_t num_lines) {
  const std::int64_t found = std::count(content.begin(), content.end(), '\n');
  if (found != num_lines || !content.ends_with('\n')) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%d whole lines%s, where %s says %d", found,
        content.ends_with('\n') ? "" : " and a last one without its end",
        "the configuration", num_lines));
  }
  SEMRANK_RETURN_IF_ERROR(CheckUtf8(content));
  content.remove_suffix(1);
  return std::vector<std::string>(absl::StrSplit(ToAbsl(content), '\n'));
}

std::string FormatLines(const std::vector<std::string>& lines) {
  std::string content;
  for (const std::string& line : lines) content.append(line).append("\n");
  return content;
}

// Features are rows of the weights, words after n-grams: with other numbers
// than the configuration's, rows would belong to other features.
absl::Status CheckSpec(const v1::FeatureSpec& spec,
                       const Featurizer& featurizer) {
  const auto& ngrams = featurizer.ngrams();
  const auto& words = featurizer.words();
  const auto& bigrams = featurizer.bigrams();
  SEMRANK_RETURN_IF_ERROR(CheckEqual("ngram_length", spec.ngram_length(),
                                     ngrams ? ngrams->ngram_length() : 0));
  SEMRANK_RETURN_IF_ERROR(
      CheckEqual("num_ngrams", spec.num_ngrams(), ngrams ? ngrams->size() : 0));
  SEMRANK_RETURN_IF_ERROR(
      CheckEqual("hash_buckets", spec.hash_buckets(),
                 ngrams && ngrams->hashed() ? ngrams->size() : 0));
  SEMRANK_RETURN_IF_ERROR(
      CheckEqual("num_words", spec.num_words(), words ? words->size() : 0));
  return CheckEqual("num_bigrams", spec.num_bigrams(),
                    bigrams ? bigrams->size() : 0);
}

}  // namespace semrank
