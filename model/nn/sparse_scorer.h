// The sparse part of a score, from the words of both texts instead of their
// vectors: q'Sd on tf-idf words, added to the dot product of the vectors. S is
// what SSI's W has besides U'V:
//
//   identity   S = I                          (W = U'V + I, W = U'U + I)
//   diagonal   S = D
//   full       S = W, stored completely
//   hashed     S(s, t) = pair_weights[h(s, t)], plus 1 where s = t unless the
//              hash kernel stands alone (SSI 2.2.1, eq. 5)
//
//   Texts    bags of Weigh: tf-idf values of words, indices ascending.
//   Scores   sum over the document's words t, in order, of v(t) d(t), where
//            v(t) is the sum over the query's words s, in order, of q(s) S(s,
//            t); 0 without a word. float32, each operation rounded separately:
//            the score of a pair is bitwise the same in any batch and thread.
//   Threads  const, so thread-safe, as is a PreparedQuery once it is made; its
//            scratch belongs to it alone.
#ifndef SEMRANK_MODEL_NN_SPARSE_SCORER_H_
#define SEMRANK_MODEL_NN_SPARSE_SCORER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "model/text/featurizer.h"

namespace semrank {

// A prime near 2^32 / 1.618 (Knuth's multiplicative hashing): its multiples
// spread over any H, also a power of two. Part of the model format.
inline constexpr std::uint64_t kPairHashPrime = 2654435761;

// The bucket, in [0, num_buckets), of the weight that query word s and document
// word t share with other pairs: h(s, t) = (s P + t) mod H (SSI 2.2.1). Words
// are below 2^26, so nothing overflows.
inline std::uint32_t PairBucket(std::uint32_t query_word,
                                std::uint32_t document_word,
                                std::uint32_t num_buckets) {
  return static_cast<std::uint32_t>(
      (query_word * kPairHashPrime + document_word) % num_buckets);
}

struct SparseWeights {
  int num_words = 0;
  const float* idf = nullptr;  // [num_words]
  // At most one; without any S = I.
  const float* diagonal = nullptr;      // [num_words]
  const float* matrix = nullptr;        // [num_words, num_words], row = query's
  const float* pair_weights = nullptr;  // [num_buckets]
  std::uint32_t num_buckets = 0;
  bool adds_identity = true;  // to pair_weights
};

// Word counts to tf-idf, the q and d of SSI: count x idf, scaled to L2 norm 1
// for each text. Replaces the counts of texts [first, last) of `bags`; `idf`
// has a value >= 0 for each index. A text whose values are all 0 keeps them.
// The values of a text do not depend on the other texts. Thread-safe on
// disjoint ranges.
void WeighTfIdf(const float* idf, int first, int last, BagBatch& bags);

class SparseScorer {
 public:
  // Uses the weights in place; `storage`, which may be null, keeps them alive.
  // InvalidArgument for weights that break the rules above.
  static absl::StatusOr<std::unique_ptr<SparseScorer>> Create(
      const SparseWeights& weights, std::shared_ptr<const void> storage);

  int num_words() const { return weights_.num_words; }

  // Replaces the counts of a featurizer of num_words() words by tf-idf.
  void Weigh(BagBatch& bags) const;

  // Memory that consecutive queries reuse.
  struct Scratch {
    std::vector<float> values;  // by word; all 0 between queries
  };

  // v = q'S, precomputed except for hashed pairs, whose buckets depend on the
  // document. All arguments must outlive it.
  class PreparedQuery {
   public:
    PreparedQuery(const SparseScorer& scorer, const BagBatch& queries,
                  int query, Scratch& scratch);
    ~PreparedQuery();
    PreparedQuery(const PreparedQuery&) = delete;
    PreparedQuery& operator=(const PreparedQuery&) = delete;

    // The score of one text of `documents`.
    float Score(const BagBatch& documents, int document) const;

   private:
    float SumOfPairs(std::uint32_t document_word) const;

    const SparseWeights& weights_;
    const BagView query_;
    std::vector<float>& values_;
  };

 private:
  SparseScorer(const SparseWeights& weights,
               std::shared_ptr<const void> storage)
      : weights_(weights), storage_(std::move(storage)) {}

  SparseWeights weights_;
  std::shared_ptr<const void> storage_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_NN_SPARSE_SCORER_H_
