// The lexical part of a text's vector: the tf-idf of its letter n-grams, hashed
// to buckets. The score of a pair is the cosine of the joined vectors,
//
//   (1 - w) cos(dense parts) + w cos(lexical parts),   w = the model's weight.
//
//   Values   log2(1 + count) x idf for each bucket, scaled to L2 norm 1, times
//            32,767 and rounded; entries of 0 are omitted.
//   Cosine   sum of products of both texts' values / 32,767^2, exact in
//            integers: the same bits in whatever order they are added, so also
//            from postings. 0 with a text without entries.
//   Threads  LexicalPart is const after Create, so thread-safe; a LexicalBatch
//            is not.
#ifndef SEMRANK_MODEL_NN_LEXICAL_PART_H_
#define SEMRANK_MODEL_NN_LEXICAL_PART_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/text/ngram_vocabulary.h"

namespace semrank {

// Buckets have 16 bits in an entry.
inline constexpr int kMaxLexicalBuckets = 1 << 16;
// The value of an entry that is the only one of its vector.
inline constexpr int kLexicalScale = 32767;

// The parts whose cosine is a score.
enum class ModelParts { kBoth, kSemantic, kLexical };

struct LexicalEntry {
  std::uint16_t bucket = 0;
  std::uint16_t value = 0;  // 1 to kLexicalScale

  friend bool operator==(const LexicalEntry&, const LexicalEntry&) = default;
};

// The entries of many texts (compressed sparse rows): text i has entries
// [offsets[i], offsets[i + 1]), buckets ascending.
struct LexicalBatch {
  std::vector<std::uint32_t> offsets = {0};  // num_texts() + 1 elements
  std::vector<LexicalEntry> entries;

  int num_texts() const { return static_cast<int>(offsets.size()) - 1; }
  std::span<const LexicalEntry> operator[](int i) const {
    return std::span(entries).subspan(offsets[i], offsets[i + 1] - offsets[i]);
  }
  // Removes all texts; keeps the memory.
  void Clear() {
    offsets.assign(1, 0);
    entries.clear();
  }
};

// ln(1 + (N - df + .5) / (df + .5)), where `document_frequency` of the
// `num_titles` titles have the bucket.
float LexicalIdf(std::int64_t num_titles, std::int64_t document_frequency);

// The cosine of two texts from the sum over their common buckets of the
// products of values. The cosine of two equal texts, which rounding can bring
// above 1, is limited to 1.
float LexicalCosine(std::uint64_t sum_of_products);

struct LexicalOptions {
  int ngram_length = 3;
  int num_buckets = kMaxLexicalBuckets;
  const float* idf = nullptr;  // [num_buckets], each >= 0
  double weight = 0;           // w, 0 to below 1
};

class LexicalPart {
 public:
  // Uses the idf in place; `storage`, which may be null, keeps it alive.
  // InvalidArgument for options that break the rules above.
  static absl::StatusOr<std::unique_ptr<LexicalPart>> Create(
      const LexicalOptions& options, std::shared_ptr<const void> storage);

  double weight() const { return options_.weight; }
  // Hashes n-grams to buckets.
  const NgramVocabulary& ngrams() const { return ngrams_; }

  // Appends the entries of one normalised text. Allocates only while the
  // batch's vectors grow.
  void AppendText(std::string_view normalized, LexicalBatch& batch) const;

  // The score of a pair by `parts`, from the cosines of both.
  float Combine(ModelParts parts, float semantic, float lexical) const;
  // bounds[i] is at least that score of every pair with a semantic cosine of at
  // most semantic[i] and a sum of products of at most sums[i]; NaN where
  // semantic[i] is.
  void Bound(ModelParts parts, std::span<const float> semantic,
             std::span<const std::uint32_t> sums, float* bounds) const;

 private:
  LexicalPart(const LexicalOptions& options, NgramVocabulary ngrams,
              std::shared_ptr<const void> storage);

  LexicalOptions options_;
  NgramVocabulary ngrams_;
  float semantic_weight_;
  float lexical_weight_;
  std::shared_ptr<const void> storage_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_NN_LEXICAL_PART_H_
