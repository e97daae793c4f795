// Rankers that change the scores of other rankers: the sum of two, and
// names first.
#ifndef SEMRANK_MODEL_EVAL_RANKERS_COMBINED_RANKERS_H_
#define SEMRANK_MODEL_EVAL_RANKERS_COMBINED_RANKERS_H_

#include <memory>

#include "model/data/collection.h"
#include "model/eval/rankers/ranker.h"

namespace semrank {

// The weighted sum of two rankers, such as a semantic model and exact
// word matches.
//
//   score = first + weight * second / best
//
// where `best` is the second ranker's highest score for the query over all
// documents. The scores of BM25 have no fixed range, those of a cosine have,
// and one weight must suit short and long queries. If the second ranker finds
// nothing, the score is the first ranker's.
//
// Both rankers were made for the same documents; `weight` is finite, >= 0. The
// name is that of both: "model+bm25".
std::unique_ptr<Ranker> CreateHybridRanker(std::unique_ptr<const Ranker> first,
                                           std::unique_ptr<const Ranker> second,
                                           double weight);

// A ranker that ranks documents above all others if the query is their name, as
// the server's catalog search does (model/text/name_match.h).
//
// These documents get scores above 1 and above the best of the ranker, in order
// of name match and then of the ranker's score. The scores differ by the
// smallest step of a float.
//
// `ranker` was made for the documents of `collection`.
std::unique_ptr<Ranker> CreateNameMatchRanker(
    std::unique_ptr<const Ranker> ranker, const Collection& collection);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_RANKERS_COMBINED_RANKERS_H_
