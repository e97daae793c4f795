// QE, query expansion by blind relevance feedback, as section 4 of the SSI
// paper defines it: the documents are ranked by the cosine of TF-IDF, then
// again with the query
//
//   q' = q + beta / E * sum over the E highest ranked documents of d
//
// where q and d are TF-IDF vectors of norm 1 (tfidf_ranker.h, words).
//
// Left open by the paper: beta and E, which it tunes; here 0.5 and 2 by
// default, and --tune chooses them; the time grows with E. Documents of score 0
// are no feedback: with fewer than E documents found, the sum has fewer, and E
// stays. Of documents with equal scores those whose text comes first in byte
// order are taken, so that the result depends on texts alone.
#ifndef SEMRANK_MODEL_EVAL_RANKERS_QUERY_EXPANSION_RANKER_H_
#define SEMRANK_MODEL_EVAL_RANKERS_QUERY_EXPANSION_RANKER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/eval/rankers/tfidf_ranker.h"

namespace semrank {

struct QueryExpansionOptions {
  int num_documents = 2;  // E, at least 1
  double weight = 0.5;    // beta; 0 = TF-IDF
};

class QueryExpansionRanker : public TfidfRanker {
 public:
  // `documents` are normalised and need not outlive the call. InvalidArgument
  // when no document has a word.
  static absl::StatusOr<std::unique_ptr<QueryExpansionRanker>> Create(
      const std::vector<std::string>& documents,
      const QueryExpansionOptions& options);

 private:
  QueryExpansionRanker(Featurizer words,
                       const std::vector<std::string>& documents,
                       const QueryExpansionOptions& options);
  void ScoreQuery(std::string_view query, float* scores) const override;
  // The E best of `scores` that are above 0.
  std::vector<std::uint32_t> Feedback(std::span<const float> scores) const;

  QueryExpansionOptions options_;
  std::vector<std::uint32_t> text_rank_;  // of each document, in byte order
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_RANKERS_QUERY_EXPANSION_RANKER_H_
