#include "model/eval/metrics/comparison.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace semrank {

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
  std::stable_sort(
      moved.begin(), moved.end(),
      [&](std::size_t a, std::size_t b) { return movement(a) > movement(b); });
  moved.resize(std::min(count, moved.size()));
  return moved;
}

std::vector<int> TopGrades(const Evaluation& evaluation,
                           const Collection& collection) {
  std::vector<int> grades;
  for (const QueryEvaluation& query : evaluation.queries) {
    int grade = 0;
    for (const Judgement& judgement :
         collection.queries[query.query].judgements) {
      if (!query.run.empty() && judgement.document == query.run[0].index) {
        grade = std::max(judgement.grade, 0);
      }
    }
    grades.push_back(grade);
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
