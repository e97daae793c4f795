#include "model/nn/lexical_part.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/text/index_set.h"

namespace semrank {

float LexicalIdf(std::int64_t num_titles, std::int64_t document_frequency) {
  const auto total = static_cast<double>(num_titles);
  const auto df = static_cast<double>(document_frequency);
  return static_cast<float>(std::log(1 + (total - df + 0.5) / (df + 0.5)));
}

float LexicalCosine(std::uint64_t sum_of_products) {
  constexpr std::uint64_t kOne = std::uint64_t{kLexicalScale} * kLexicalScale;
  return static_cast<float>(
      static_cast<double>(std::min(sum_of_products, kOne)) / double{kOne});
}

absl::StatusOr<std::unique_ptr<LexicalPart>> LexicalPart::Create(
    const LexicalOptions& options, std::shared_ptr<const void> storage) {
  if (options.num_buckets > kMaxLexicalBuckets) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "the lexical part has %d buckets; at most %d are possible",
        options.num_buckets, kMaxLexicalBuckets));
  }
  if (!(options.weight >= 0 && options.weight < 1)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("the weight of the lexical part is %g; it must be from "
                        "0 to below 1",
                        options.weight));
  }
  if (options.idf == nullptr) {
    return absl::InvalidArgumentError("the lexical part has no idf");
  }
  SEMRANK_ASSIGN_OR_RETURN(
      NgramVocabulary ngrams,
      NgramVocabulary::Hashed(options.ngram_length, options.num_buckets));
  // make_unique cannot reach the private constructor.
  return std::unique_ptr<LexicalPart>(
      new LexicalPart(options, std::move(ngrams), std::move(storage)));
}

LexicalPart::LexicalPart(const LexicalOptions& options, NgramVocabulary ngrams,
                         std::shared_ptr<const void> storage)
    : options_(options),
      ngrams_(std::move(ngrams)),
      semantic_weight_(static_cast<float>(1 - options.weight)),
      lexical_weight_(static_cast<float>(options.weight)),
      storage_(std::move(storage)) {}

void LexicalPart::AppendText(std::string_view normalized,
                             LexicalBatch& batch) const {
  // IndexSet has a bit for each of 65,536 buckets: too many to allocate for
  // each text. A thread keeps one, which is empty between calls.
  thread_local IndexSet set;
  thread_local std::vector<std::uint32_t> buckets;
  thread_local std::vector<float> values;
  buckets.clear();
  ngrams_.AppendIndices(normalized, buckets);
  set.GrowTo(static_cast<std::size_t>(options_.num_buckets));
  set.SortAndCount(0, buckets, values);
  double squares = 0;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    // Most n-grams of a text occur once, and log2(2) = 1.
    if (values[i] != 1) values[i] = std::log2(1 + values[i]);
    values[i] *= options_.idf[buckets[i]];
    squares += double{values[i]} * values[i];
  }
  const double scale = squares == 0 ? 0 : kLexicalScale / std::sqrt(squares);
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    // Rounding can bring a single value above the scale by no more than
    // its own error, which the cast cuts. lround would be a call per
    // value. NOLINTNEXTLINE(bugprone-incorrect-roundings)
    const auto value = static_cast<std::uint16_t>(values[i] * scale + 0.5);
    if (value == 0) continue;
    batch.entries.push_back({static_cast<std::uint16_t>(buckets[i]), value});
  }
  batch.offsets.push_back(static_cast<std::uint32_t>(batch.entries.size()));
}

float LexicalPart::Combine(ModelParts parts, float semantic,
                           float lexical) const {
  if (parts == ModelParts::kSemantic) return semantic;
  if (parts == ModelParts::kLexical) return lexical;
  return semantic_weight_ * semantic + lexical_weight_ * lexical;
}

// Multiplies where LexicalCosine divides and has no branch, so that the loop
// becomes SIMD code. The result is rounded up by more than Combine and these
// lines lose together, about 2^-22 of each term.
void LexicalPart::Bound(ModelParts parts, std::span<const float> semantic,
                        std::span<const std::uint32_t> sums,
                        float* bounds) const {
  constexpr float kRoundUp = 1e-6f;
  constexpr float kCosine =
      (1 + kRoundUp) / (static_cast<float>(kLexicalScale) * kLexicalScale);
  const float semantic_weight = Combine(parts, 1, 0);
  const float lexical_weight = Combine(parts, 0, 1) * kCosine;
  assert(sums.size() == semantic.size());
  for (std::size_t i = 0; i < semantic.size(); ++i) {
    // A sum is at most about 2^30; signed numbers convert faster.
    const auto sum = static_cast<float>(static_cast<std::int32_t>(sums[i]));
    const float rounding = (std::abs(semantic[i]) + 1) * kRoundUp;
    bounds[i] = semantic_weight * semantic[i] + lexical_weight * sum + rounding;
  }
}

}  // namespace semrank
