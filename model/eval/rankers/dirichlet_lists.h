// Query likelihood with Dirichlet smoothing over one kind of features, such as
// words or pairs of words (Zhai and Lafferty, ACM TOIS 22(2), 2004).
//
//   log P(Q|D) - log P(Q|C) = sum over features f of the query, repeats
//       counted, of log [ (tf(f, D) + mu P(f|C)) / ((|D| + mu) P(f|C)) ]
//
// where P(f|C) = cf(f) / |C|, cf(f) is the count of f in all documents, and |D|
// and |C| are lengths in words. log P(Q|C) is the same for all documents. It is
// subtracted because the score of a document that shares no feature with the
// query then depends on its length alone, so that inverted lists find the
// others. The score of an empty document is 0.
//
//   Memory   8 bytes for each distinct feature of each document, 4 a document.
//   Threads  const after construction.
#ifndef SEMRANK_MODEL_EVAL_RANKERS_DIRICHLET_LISTS_H_
#define SEMRANK_MODEL_EVAL_RANKERS_DIRICHLET_LISTS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/eval/rankers/inverted_lists.h"
#include "model/text/bag_batch.h"

namespace semrank {

class DirichletLists {
 public:
  DirichletLists() = default;
  // `documents` has counts, lengths[d] is |D| of document d, and mu > 0.
  DirichletLists(std::size_t num_features, BagBatch documents,
                 const std::vector<float>& lengths, double mu);

  // Adds `weight` times the sum above for a query that has features[i]
  // counts[i] times. Each feature must occur in a document.
  void AddScores(std::span<const std::uint32_t> features,
                 std::span<const float> counts, float weight,
                 float* scores) const;

 private:
  InvertedLists lists_;              // log(1 + tf / (mu P(f|C)))
  std::vector<float> length_terms_;  // log(mu / (|D| + mu)), by document
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_RANKERS_DIRICHLET_LISTS_H_
