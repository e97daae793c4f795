// Prints comparisons of rankers, as text and as JSON.
#ifndef SEMRANK_MODEL_EVAL_COMPARISON_OUTPUT_H_
#define SEMRANK_MODEL_EVAL_COMPARISON_OUTPUT_H_

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "model/data/collection.h"
#include "model/eval/metrics/comparison.h"

namespace semrank {

// The number of documents of each ranking that are shown for a query that
// moved. The runs of the evaluations must have as many.
inline constexpr std::size_t kTopDocumentsShown = 3;

// A line for each metric, then the number of queries by the grades of their
// first documents, then the queries that moved most, with the first documents
// of both rankings.
std::string FormatComparison(const Evaluation& evaluation,
                             const Evaluation& baseline,
                             const Collection& collection);

// NDCG@10 of each evaluation minus that of each other one, with p values after
// Holm's correction over all pairs.
std::string FormatMatrix(std::span<const Evaluation> evaluations);

// {"ndcg@1": {"delta": x, "standard_error": x, "p": x, "p_randomization": x,
//  "wins": n, "ties": n, "losses": n}, ...}
nlohmann::ordered_json ComparisonToJson(const Evaluation& evaluation,
                                        const Evaluation& baseline);

// [{"query": id, "text": ..., "baseline_ndcg@10": x, "ndcg@10": x,
//   "baseline_top": [{"id": ..., "title": ...}, ...], "top": [...]}, ...]
nlohmann::ordered_json MovedQueriesToJson(const Evaluation& evaluation,
                                          const Evaluation& baseline,
                                          const Collection& collection);

// One object for each evaluation: {"other ranker": {"ndcg@1": {"delta": x,
// "p_holm": x}, ...}, ...}
std::vector<nlohmann::ordered_json> MatrixToJson(
    std::span<const Evaluation> evaluations);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_COMPARISON_OUTPUT_H_
