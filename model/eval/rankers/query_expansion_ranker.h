// QE, query expansion by blind relevance feedback, as section 4 of the SSI
// paper defines it: the documents are ranked by the cosine of TF-IDF, then
// again with the query
//
//   q' = q + beta / E * sum over the E highest ranked documents of d
//
// where q and d are TF-IDF vectors of norm 1 (tfidf_ranker.h, words).
//
// The paper tunes beta and E; here they are options, which --tune can choose.
// The time grows with E. Documents of score 0 are not used for feedback: if
// fewer than E documents are found, the sum has fewer, but is still divided by
// E. Among documents with equal scores those whose text comes first in byte
// order are used, so that the result depends on texts alone.
#ifndef SEMRANK_MODEL_EVAL_RANKERS_QUERY_EXPANSION_RANKER_H_
#define SEMRANK_MODEL_EVAL_RANKERS_QUERY_EXPANSION_RANKER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/eval/rankers/ranker.h"

namespace semrank {

struct QueryExpansionOptions {
  int num_documents = 2;  // E, at least 1
  double weight = 0.5;    // beta; 0 = TF-IDF
};

// `documents` are normalised and need not outlive the call. InvalidArgument if
// no document has a word.
absl::StatusOr<std::unique_ptr<Ranker>> CreateQueryExpansionRanker(
    const std::vector<std::string>& documents,
    const QueryExpansionOptions& options);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_RANKERS_QUERY_EXPANSION_RANKER_H_
