// Query likelihood with Dirichlet smoothing over one kind of features, such as
// words or pairs of words: what the unigram language model and the Markov
// random field have in common.
//
//   log P(Q|D) - log P(Q|C) = sum over features f of the query, repeats
//       counted, of log [ (tf(f, D) + mu P(f|C)) / ((|D| + mu) P(f|C)) ]
//
// with P(f|C) = cf(f) / |C|: cf(f) is the count of f in all documents, |D| and
// |C| are lengths in words. Subtracting log P(Q|C), which is the same for all
// documents, leaves for a document that shares no feature with the query its
// length alone, so that the others are found by inverted lists. 0 is the score
// of an empty document.
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
  // `documents` are counts; lengths[d] is |D| of document d; mu > 0.
  DirichletLists(std::size_t num_features, BagBatch documents,
                 const std::vector<float>& lengths, double mu);

  // Adds `weight` times the sum above for a query that has features[i]
  // counts[i] times. Features of no document must not be there.
  void AddScores(std::span<const std::uint32_t> features,
                 std::span<const float> counts, float weight,
                 float* scores) const;

 private:
  InvertedLists lists_;              // log(1 + tf / (mu P(f|C)))
  std::vector<float> length_terms_;  // log(mu / (|D| + mu)) of each document
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_RANKERS_DIRICHLET_LISTS_H_
