// All numbers come from metrics/comparison.h. This file lays them out, as a
// table for people and as JSON for scripts.
#include "model/eval/comparison_output.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "absl/strings/str_format.h"
#include "model/text/normalized_text.h"
#include "model/text/utf8.h"

namespace semrank {
namespace {

// Few enough to read. Users look at single queries here, which a mean hides.
constexpr std::size_t kMovedQueriesShown = 20;
constexpr std::string_view kRankingLossName = "ranking_loss";

// Scripts read these names; EVALUATION.md lists them.
nlohmann::ordered_json PairedToJson(const PairedComparison& paired) {
  return {{"delta", paired.delta},  {"standard_error", paired.standard_error},
          {"p", paired.t_test_p},   {"p_randomization", paired.randomization_p},
          {"wins", paired.wins},    {"ties", paired.ties},
          {"losses", paired.losses}};
}

// The widths are those of the heading in FormatComparison.
std::string PairedRow(std::string_view name, const PairedComparison& paired) {
  return absl::StrFormat("%-14s%+9.4f%9.4f%10.4f%15.4f%8d%8d%8d\n", name,
                         paired.delta, paired.standard_error, paired.t_test_p,
                         paired.randomization_p, paired.wins, paired.ties,
                         paired.losses);
}

// A ranker of words may find fewer documents.
std::span<const RankedDocument> TopOf(const QueryEvaluation& query) {
  return std::span(query.run).first(
      std::min(query.run.size(), kTopDocumentsShown));
}

// The collection has no title of a document that only a run names.
std::string_view TitleOf(const RankedDocument& document,
                         const Collection& collection) {
  return document.index < collection.documents.size()
             ? MainWords(collection.documents[document.index])
             : "";
}

// Titles are normalized, but ids are as the files have them, and a terminal
// would obey their escape sequences.
std::string FormatTop(const Evaluation& evaluation, std::size_t q,
                      const Collection& collection) {
  const QueryEvaluation& query = evaluation.queries[q];
  std::string text = absl::StrFormat("    %.4f  %s\n", query.metrics[kNdcgAt10],
                                     evaluation.ranker);
  for (const RankedDocument& document : TopOf(query)) {
    absl::StrAppendFormat(
        &text, "      %s  %s\n",
        EscapeControls(evaluation.IdOf(document.index, collection)),
        TitleOf(document, collection));
  }
  return text;
}

nlohmann::ordered_json TopToJson(const Evaluation& evaluation, std::size_t q,
                                 const Collection& collection) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const RankedDocument& document : TopOf(evaluation.queries[q])) {
    json.push_back({{"id", evaluation.IdOf(document.index, collection)},
                    {"title", std::string(TitleOf(document, collection))}});
  }
  return json;
}

// Table 7 of the CLSM paper, with sums. Counts below the diagonal are queries
// for which the evaluated ranker has the better first document, those above it
// the queries that it loses.
std::string FormatTopGrades(const Evaluation& evaluation,
                            const Evaluation& baseline,
                            const Collection& collection) {
  const std::vector<std::vector<int>> matrix =
      TopGradeMatrix(evaluation, baseline, collection);
  std::string text = absl::StrFormat(
      "\nqueries by the grade of the first document, rows %s, columns %s\n\n"
      "%8s",
      evaluation.ranker, baseline.ranker, "grade");
  for (std::size_t grade = 0; grade < matrix.size(); ++grade) {
    absl::StrAppendFormat(&text, "%8d", grade);
  }
  text += "     all\n";
  // Sums of the columns; the last one is the number of all queries.
  std::vector<int> sums(matrix.size() + 1);
  for (std::size_t row = 0; row < matrix.size(); ++row) {
    absl::StrAppendFormat(&text, "%8d", row);
    int sum = 0;
    for (std::size_t column = 0; column < matrix.size(); ++column) {
      absl::StrAppendFormat(&text, "%8d", matrix[row][column]);
      sums[column] += matrix[row][column];
      sum += matrix[row][column];
    }
    absl::StrAppendFormat(&text, "%8d\n", sum);
    sums.back() += sum;
  }
  absl::StrAppendFormat(&text, "%8s", "all");
  for (const int sum : sums) absl::StrAppendFormat(&text, "%8d", sum);
  return text + "\n";
}

// Cell [i, j] compares evaluation i with evaluation j.
struct Matrix {
  std::vector<std::vector<double>> delta;
  std::vector<std::vector<double>> p;  // of the t-test, after Holm's correction
};

Matrix CompareAll(std::span<const Evaluation> evaluations, Metric metric) {
  const std::size_t size = evaluations.size();
  const std::vector<double> zeros(size);
  Matrix matrix{{size, zeros}, {size, zeros}};
  std::vector<double> p;
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const PairedComparison paired =
          CompareMetric(evaluations[i], evaluations[j], metric);
      matrix.delta[i][j] = paired.delta;
      matrix.delta[j][i] = -paired.delta;
      p.push_back(paired.t_test_p);
    }
  }
  // The correction is over the pairs below the diagonal, as each pair is
  // one test.
  const std::vector<double> corrected = HolmCorrection(p);
  auto next = corrected.begin();
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      matrix.p[i][j] = matrix.p[j][i] = *next++;
    }
  }
  return matrix;
}

}  // namespace

std::string FormatComparison(const Evaluation& evaluation,
                             const Evaluation& baseline,
                             const Collection& collection) {
  std::string text = absl::StrFormat(
      "\n%s minus %s\n\n%-14s%9s%9s%10s%15s%8s%8s%8s\n", evaluation.ranker,
      baseline.ranker, "metric", "delta", "+-", "p t-test", "p randomized",
      "wins", "ties", "losses");
  const Comparison comparison = Compare(evaluation, baseline);
  for (int metric = 0; metric < kNumMetrics; ++metric) {
    text += PairedRow(kMetricNames[metric], comparison.metrics[metric]);
  }
  if (comparison.ranking_loss) {
    text += PairedRow(kRankingLossName, *comparison.ranking_loss);
  }
  text += FormatTopGrades(evaluation, baseline, collection);
  // Both directions are listed: what the ranker gains may hide what it loses.
  const std::vector<std::size_t> moved =
      MostMovedQueries(evaluation, baseline, kMovedQueriesShown);
  if (!moved.empty()) text += "\nqueries whose ndcg@10 moved most\n";
  for (const std::size_t q : moved) {
    const JudgedQuery& query = collection.queries[evaluation.queries[q].query];
    absl::StrAppendFormat(&text, "  %s  %s\n", EscapeControls(query.id),
                          MainWords(query.text));
    text += FormatTop(baseline, q, collection);
    text += FormatTop(evaluation, q, collection);
  }
  return text;
}

std::string FormatMatrix(std::span<const Evaluation> evaluations) {
  // Names may be paths of models, and all columns are as wide as the longest.
  std::size_t width = 12;
  for (const Evaluation& evaluation : evaluations) {
    width = std::max(width, evaluation.ranker.size() + 2);
  }
  const int column = static_cast<int>(width);
  const Matrix matrix = CompareAll(evaluations, kNdcgAt10);
  std::string text = absl::StrFormat(
      "\nndcg@10 of the row minus that of the column, and p of the paired "
      "t-test with\nHolm's correction for %d pairs\n\n%*s",
      evaluations.size() * (evaluations.size() - 1) / 2, column, "");
  for (const Evaluation& evaluation : evaluations) {
    absl::StrAppendFormat(&text, "%*s", column, evaluation.ranker);
  }
  for (std::size_t i = 0; i < evaluations.size(); ++i) {
    absl::StrAppendFormat(&text, "\n%-*s", column, evaluations[i].ranker);
    // A ranker is not compared with itself: the diagonal stays blank. Two lines
    // for each ranker: the differences, and below them the p values.
    std::string second = absl::StrFormat("\n%-*s", column, "  p");
    for (std::size_t j = 0; j < evaluations.size(); ++j) {
      absl::StrAppendFormat(
          &text, "%*s", column,
          i == j ? "" : absl::StrFormat("%+.4f", matrix.delta[i][j]));
      absl::StrAppendFormat(
          &second, "%*s", column,
          i == j ? "" : absl::StrFormat("%.4f", matrix.p[i][j]));
    }
    text += second;
  }
  return text + "\n";
}

nlohmann::ordered_json ComparisonToJson(const Evaluation& evaluation,
                                        const Evaluation& baseline) {
  const Comparison comparison = Compare(evaluation, baseline);
  nlohmann::ordered_json json;
  for (int metric = 0; metric < kNumMetrics; ++metric) {
    json[std::string(kMetricNames[metric])] =
        PairedToJson(comparison.metrics[metric]);
  }
  if (comparison.ranking_loss) {
    json[std::string(kRankingLossName)] =
        PairedToJson(*comparison.ranking_loss);
  }
  return json;
}

nlohmann::ordered_json MovedQueriesToJson(const Evaluation& evaluation,
                                          const Evaluation& baseline,
                                          const Collection& collection) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const std::size_t q :
       MostMovedQueries(evaluation, baseline, kMovedQueriesShown)) {
    const QueryEvaluation& here = evaluation.queries[q];
    const QueryEvaluation& there = baseline.queries[q];
    const JudgedQuery& query = collection.queries[here.query];
    json.push_back({{"query", query.id},
                    {"text", MainWords(query.text)},
                    {"baseline_ndcg@10", there.metrics[kNdcgAt10]},
                    {"ndcg@10", here.metrics[kNdcgAt10]},
                    {"baseline_top", TopToJson(baseline, q, collection)},
                    {"top", TopToJson(evaluation, q, collection)}});
  }
  return json;
}

std::vector<nlohmann::ordered_json> MatrixToJson(
    std::span<const Evaluation> evaluations) {
  const std::size_t size = evaluations.size();
  std::vector<nlohmann::ordered_json> rows(size);
  // Holm's correction is over the pairs of one metric: the metrics of one
  // ranking are not independent tests.
  for (int m = 0; m < kNumMetrics; ++m) {
    const Matrix matrix = CompareAll(evaluations, static_cast<Metric>(m));
    const std::string metric(kMetricNames[m]);
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j < size; ++j) {
        if (i == j) continue;
        rows[i][evaluations[j].ranker][metric] = {{"delta", matrix.delta[i][j]},
                                                  {"p_holm", matrix.p[i][j]}};
      }
    }
  }
  return rows;
}

}  // namespace semrank
