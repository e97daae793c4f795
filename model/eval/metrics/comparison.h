// Compares two evaluations of the same queries: differences, significance, and
// the queries where they differ.
//
// The tests of significance are the paired t-test, as in the papers, and
// Fisher's randomization test, which assumes no distribution (Smucker, Allan
// and Carterette, CIKM 2007). The same input gives the same p values.
#ifndef SEMRANK_MODEL_EVAL_METRICS_COMPARISON_H_
#define SEMRANK_MODEL_EVAL_METRICS_COMPARISON_H_

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "model/eval/metrics/evaluate.h"

namespace semrank {

struct PairedComparison {
  double delta = 0;           // mean difference
  double standard_error = 0;  // of delta; 0 for one query
  // Two-sided: how often chance alone makes a difference this large. 1 when all
  // differences are 0 or there is only one query.
  double t_test_p = 1;
  // The share of kNumSignFlips random choices of signs, the observed one
  // included, that make a difference this large.
  double randomization_p = 1;
  std::size_t wins = 0;  // positive differences
  std::size_t ties = 0;
  std::size_t losses = 0;
};

inline constexpr int kNumSignFlips = 10'000;

// `differences` has a value minus the baseline's value for each query.
// Differences up to 1e-12 are rounding errors and count as ties.
PairedComparison ComparePaired(std::span<const double> differences);

// Corrects the p values of several tests by Holm's method (Scandinavian Journal
// of Statistics 1979): if all values below 0.05 are taken for differences, one
// or more is wrong in at most 5 % of all tables. Keeps the order of `p`.
std::vector<double> HolmCorrection(std::span<const double> p);

struct Comparison {
  std::array<PairedComparison, kNumMetrics> metrics;
  // Over the queries that have a ranking loss, the mean over queries. Lower is
  // better, so a win is a negative difference.
  std::optional<PairedComparison> ranking_loss;
};

// Compares `evaluation` minus `baseline`. Both are of one collection, with the
// same candidates.
PairedComparison CompareMetric(const Evaluation& evaluation,
                               const Evaluation& baseline, Metric metric);
Comparison Compare(const Evaluation& evaluation, const Evaluation& baseline);

// Indices into the queries of both, at most `count`; those whose NDCG@10
// differs most come first.
std::vector<std::size_t> MostMovedQueries(const Evaluation& evaluation,
                                          const Evaluation& baseline,
                                          std::size_t count);

// Higher grades count as this one in TopGrades, which bounds its tables
// and figures.
inline constexpr int kMaxTopGrade = kMaxExponentialGrade;

// The grade of each query's first document (figure 3 of the CLSM paper): 0 if
// it was not judged, has a grade below 0 or does not exist. Among tied
// documents the first is the one that trec_eval ranks first. The evaluation
// must have kept at least one document a query.
std::vector<int> TopGrades(const Evaluation& evaluation,
                           const Collection& collection);

// The number of queries by these grades, [grade][grade of the baseline] (table
// 7 of the CLSM paper): a square matrix up to the highest grade of both.
std::vector<std::vector<int>> TopGradeMatrix(const Evaluation& evaluation,
                                             const Evaluation& baseline,
                                             const Collection& collection);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_METRICS_COMPARISON_H_
