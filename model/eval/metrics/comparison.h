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

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_METRICS_COMPARISON_H_
