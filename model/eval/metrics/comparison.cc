#include "model/eval/metrics/comparison.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <utility>

namespace semrank {
namespace {

// Values are means over orders of ties in double: equal rankings can differ in
// the last digits.
constexpr double kRounding = 1e-12;

double TTestP(double t, std::size_t num_queries) {
  // All differences are equal: no variance, and Boost refuses infinity.
  if (!std::isfinite(t)) return 0;
  // The mean of n differences has n - 1 degrees of freedom. Twice the upper
  // tail is both tails. 1 - cdf would lose the digits of a small p; the
  // complement keeps them.
  const boost::math::students_t distribution(
      static_cast<double>(num_queries - 1));
  return 2 * boost::math::cdf(boost::math::complement(distribution, t));
}

// If the rankers were equally good, each difference could as well have the
// other sign.
double RandomizationP(const std::vector<double>& differences) {
  const double sum =
      std::accumulate(differences.begin(), differences.end(), 0.0);
  // Flipping all signs keeps the absolute value of the sum. The tolerance makes
  // it count as equal despite rounding.
  const double observed = std::abs(sum) - kRounding;
  std::mt19937_64 random;  // NOLINT: a fixed seed, so that p can be repeated
  int at_least_as_large = 1;
  for (int round = 0; round < kNumSignFlips; ++round) {
    double flipped = 0;
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < differences.size(); ++i) {
      if (i % 64 == 0) bits = random();
      // A multiplication, not a branch, which would be mispredicted half of
      // the time. The sum with flipped signs is the sum minus twice the
      // flipped ones.
      flipped += static_cast<double>(bits & 1) * differences[i];
      bits >>= 1;
    }
    if (std::abs(sum - 2 * flipped) >= observed) ++at_least_as_large;
  }
  // The observed choice of signs counts as one of them, so p is never 0.
  return at_least_as_large / (kNumSignFlips + 1.0);
}

// A document's grade for the query, 0 if it was not judged.
int GradeOf(std::uint32_t document, const QueryEvaluation& evaluated,
            const Evaluation& evaluation, const Collection& collection) {
  const JudgedQuery& query = collection.queries[evaluated.query];
  for (const Judgement& judgement : query.judgements) {
    if (judgement.document == document) return judgement.grade;
  }
  if (document < collection.documents.size()) return 0;
  // Qrels may judge documents that the collection lacks: `missing` has
  // their ids.
  const auto missing =
      std::ranges::find(query.missing, evaluation.IdOf(document, collection),
                        &MissingDocument::id);
  return missing == query.missing.end() ? 0 : missing->grade;
}

}  // namespace

PairedComparison ComparePaired(std::span<const double> differences) {
  PairedComparison result;
  // Ties change no sum, so the randomization test skips them.
  std::vector<double> moved;
  for (const double difference : differences) {
    if (std::abs(difference) > kRounding) moved.push_back(difference);
    if (difference > kRounding) ++result.wins;
    if (difference < -kRounding) ++result.losses;
  }
  result.ties = differences.size() - moved.size();
  if (moved.empty()) return result;
  const MeanAndError mean = MeanOf(differences);
  result.delta = mean.mean;
  result.standard_error = mean.standard_error;
  // One query has no variance, and one sign to flip.
  if (differences.size() < 2) return result;
  result.t_test_p =
      TTestP(std::abs(mean.mean) / mean.standard_error, differences.size());
  result.randomization_p = RandomizationP(moved);
  return result;
}

std::vector<double> HolmCorrection(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [p](std::size_t i) { return p[i]; });
  std::vector<double> corrected(p.size());
  double least = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    // The smallest p counts as one of all tests, the next as one of the tests
    // that are left, and so on.
    const auto num_left = static_cast<double>(p.size() - i);
    // Never below the one before: otherwise a larger p could be corrected to a
    // smaller one.
    least = std::max(least, std::min(1.0, num_left * p[order[i]]));
    corrected[order[i]] = least;
  }
  return corrected;
}

PairedComparison CompareMetric(const Evaluation& evaluation,
                               const Evaluation& baseline, Metric metric) {
  assert(evaluation.queries.size() == baseline.queries.size());
  std::vector<double> differences(evaluation.queries.size());
  for (std::size_t q = 0; q < differences.size(); ++q) {
    differences[q] = evaluation.queries[q].metrics[metric] -
                     baseline.queries[q].metrics[metric];
  }
  return ComparePaired(differences);
}

Comparison Compare(const Evaluation& evaluation, const Evaluation& baseline) {
  Comparison comparison;
  for (int m = 0; m < kNumMetrics; ++m) {
    comparison.metrics[m] =
        CompareMetric(evaluation, baseline, static_cast<Metric>(m));
  }
  std::vector<double> differences;
  for (std::size_t q = 0; q < evaluation.queries.size(); ++q) {
    const auto loss = evaluation.queries[q].tuples.loss();
    const auto other = baseline.queries[q].tuples.loss();
    if (loss && other) differences.push_back(*loss - *other);
  }
  if (!differences.empty()) {
    comparison.ranking_loss = ComparePaired(differences);
    // A lower loss is better: a negative difference is a win.
    std::swap(comparison.ranking_loss->wins, comparison.ranking_loss->losses);
  }
  return comparison;
}

std::vector<std::size_t> MostMovedQueries(const Evaluation& evaluation,
                                          const Evaluation& baseline,
                                          std::size_t count) {
  const auto movement = [&](std::size_t q) {
    return std::abs(evaluation.queries[q].metrics[kNdcgAt10] -
                    baseline.queries[q].metrics[kNdcgAt10]);
  };
  std::vector<std::size_t> moved;
  for (std::size_t q = 0; q < evaluation.queries.size(); ++q) {
    if (movement(q) > 0) moved.push_back(q);
  }
  // Queries that moved equally keep the order of the queries file.
  std::ranges::stable_sort(moved, std::greater<>(), movement);
  moved.resize(std::min(count, moved.size()));
  return moved;
}

std::vector<int> TopGrades(const Evaluation& evaluation,
                           const Collection& collection) {
  std::vector<int> grades;
  for (const QueryEvaluation& query : evaluation.queries) {
    grades.push_back(query.run.empty()
                         ? 0
                         : std::clamp(GradeOf(query.run[0].index, query,
                                              evaluation, collection),
                                      0, kMaxTopGrade));
  }
  return grades;
}

std::vector<std::vector<int>> TopGradeMatrix(const Evaluation& evaluation,
                                             const Evaluation& baseline,
                                             const Collection& collection) {
  const std::vector<int> rows = TopGrades(evaluation, collection);
  const std::vector<int> columns = TopGrades(baseline, collection);
  assert(rows.size() == columns.size());
  int highest = 0;
  for (const int grade : rows) highest = std::max(highest, grade);
  for (const int grade : columns) highest = std::max(highest, grade);
  std::vector<std::vector<int>> matrix(highest + 1,
                                       std::vector<int>(highest + 1));
  for (std::size_t q = 0; q < rows.size(); ++q) ++matrix[rows[q]][columns[q]];
  return matrix;
}

}  // namespace semrank
