// Two evaluations of the same queries against each other.
#ifndef SEMRANK_MODEL_EVAL_METRICS_COMPARISON_H_
#define SEMRANK_MODEL_EVAL_METRICS_COMPARISON_H_

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "model/eval/metrics/evaluate.h"
#include "model/eval/metrics/paired_tests.h"

namespace semrank {

struct Comparison {
  std::array<PairedComparison, kNumMetrics> metrics;
  // Over the queries that have a ranking loss, the mean over queries; lower is
  // better, so a win is a negative difference.
  std::optional<PairedComparison> ranking_loss;
};

// `evaluation` minus `baseline`. Both are of one collection, with the same
// candidates.
PairedComparison CompareMetric(const Evaluation& evaluation,
                               const Evaluation& baseline, Metric metric);
Comparison Compare(const Evaluation& evaluation, const Evaluation& baseline);

// Indices into the queries of both, those whose NDCG@10 differs most first, at
// most `count`.
std::vector<std::size_t> MostMovedQueries(const Evaluation& evaluation,
                                          const Evaluation& baseline,
                                          std::size_t count);

// The grade of each query's first document (figure 3 of the CLSM paper). 0 for
// one that was not judged, has a grade below 0 or does not exist; of tied
// documents the one counts that trec_eval takes for the first. The evaluation
// has kept at least one document a query.
std::vector<int> TopGrades(const Evaluation& evaluation,
                           const Collection& collection);

// Queries by these grades: [grade][grade of the baseline] (table 7 of the CLSM
// paper), square, from 0 to the highest of both.
std::vector<std::vector<int>> TopGradeMatrix(const Evaluation& evaluation,
                                             const Evaluation& baseline,
                                             const Collection& collection);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_METRICS_COMPARISON_H_
