#include "model/eval/evaluation_output.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/eval/comparison_output.h"
#include "model/eval/metrics/comparison.h"
#include "model/html/svg_chart.h"

namespace semrank {
namespace {

// Wide enough for a pair of rankers, so that tables of several runs have the
// same columns.
constexpr int kMinNameWidth = 18;
constexpr int kValueWidth = 9;

std::string FormatValues(const MetricValues& values) {
  std::string row;
  for (const double value : values) {
    absl::StrAppendFormat(&row, "%*.4f", kValueWidth, value);
  }
  return row;
}

nlohmann::ordered_json SlicesToJson(const Results& results,
                                    const Evaluation& evaluation) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const Slice& slice : results.slices) {
    const Evaluation part = evaluation.OfQueries(slice.queries);
    if (part.queries.empty()) continue;
    json[slice.name] = EvaluationToJson(part);
    // The object around the slices names it.
    json[slice.name].erase("ranker");
  }
  return json;
}

}  // namespace

std::string FormatCollection(const Collection& collection,
                             const EvaluateOptions& options) {
  // Counts only queries with a relevant document; the means exclude the rest.
  const auto num_queries =
      std::ranges::count(collection.queries, true, &JudgedQuery::HasRelevant);
  return absl::StrFormat(
      "%d queries, %d documents, candidates: %s, gain: %s, ties: %s\n",
      num_queries, collection.documents.size(),
      options.candidates == Candidates::kAll ? "all documents"
                                             : "the query's judged documents",
      options.gain == Gain::kExponential ? "2^grade - 1" : "grade",
      options.ties == Ties::kExpected ? "expected value"
                                      : "by id, as trec_eval");
}

ResultTable::ResultTable(std::span<const std::string> rankers)
    : name_width_(kMinNameWidth) {
  for (const std::string& ranker : rankers) {
    name_width_ = std::max(name_width_, static_cast<int>(ranker.size()) + 1);
  }
}

std::string ResultTable::Head() const {
  std::string head = absl::StrFormat("%-*s", name_width_, "ranker");
  for (const std::string_view name : kMetricNames) {
    absl::StrAppendFormat(&head, "%*s", kValueWidth, name);
  }
  return head +
         absl::StrFormat("%*s%*s\n", kValueWidth, "rloss", kValueWidth, "tied");
}

std::string ResultTable::Rows(const Evaluation& evaluation) const {
  std::string means = absl::StrFormat("%-*s", name_width_, evaluation.ranker) +
                      FormatValues(evaluation.summary.mean);
  std::string errors = absl::StrFormat("%-*s", name_width_, "  +-") +
                       FormatValues(evaluation.summary.standard_error);
  // There is none where all candidates are relevant.
  if (const auto loss = evaluation.mean_ranking_loss()) {
    absl::StrAppendFormat(&means, "%*.4f", kValueWidth, loss->mean);
    absl::StrAppendFormat(&errors, "%*.4f", kValueWidth, loss->standard_error);
  } else {
    absl::StrAppendFormat(&means, "%*s", kValueWidth, "");
  }
  // The unit takes two places of the column.
  absl::StrAppendFormat(&means, "%*.1f %%", kValueWidth - 2,
                        100 * evaluation.tied_share());
  return means + "\n" + errors + "\n";
}

nlohmann::ordered_json EvaluationToJson(const Evaluation& evaluation) {
  nlohmann::ordered_json json;
  json["ranker"] = evaluation.ranker;
  json["queries"] = evaluation.queries.size();
  json["metrics"] = MetricsJson(evaluation.summary.mean);
  json["standard_errors"] = MetricsJson(evaluation.summary.standard_error);
  if (const auto loss = evaluation.ranking_loss()) {
    const MeanAndError mean = *evaluation.mean_ranking_loss();
    // ranking_loss is the loss over the tuples of all queries.
    // mean_ranking_loss is its mean over queries, as SSI defines it.
    json["ranking_loss"] = *loss;
    json["mean_ranking_loss"] = mean.mean;
    json["standard_errors"]["mean_ranking_loss"] = mean.standard_error;
  }
  json["tied_queries"] = evaluation.tied_share();
  return json;
}

void AddOptions(const EvaluateOptions& options, nlohmann::ordered_json& json) {
  json["candidates"] =
      options.candidates == Candidates::kAll ? "all" : "judged";
  json["gain"] = options.gain == Gain::kExponential ? "exponential" : "linear";
  json["ties"] = options.ties == Ties::kExpected ? "expected" : "trec";
}

std::string FormatPerQuery(const Evaluation& evaluation,
                           const Evaluation* baseline,
                           const Collection& collection) {
  std::string content;
  const auto add = [&](std::size_t q, std::string_view metric, double value,
                       std::optional<double> other) {
    const std::string& id = collection.queries[evaluation.queries[q].query].id;
    // 17 digits distinguish any two doubles, so tests over these files see the
    // same differences as this program.
    absl::StrAppendFormat(&content, "%s\t%s\t%.17g", id, metric, value);
    if (other) absl::StrAppendFormat(&content, "\t%.17g", *other);
    content += '\n';
  };
  for (std::size_t q = 0; q < evaluation.queries.size(); ++q) {
    const QueryEvaluation& here = evaluation.queries[q];
    const QueryEvaluation* there =
        baseline == nullptr ? nullptr : &baseline->queries[q];
    for (int m = 0; m < kNumMetrics; ++m) {
      add(q, kMetricNames[m], here.metrics[m],
          there ? std::optional(there->metrics[m]) : std::nullopt);
    }
    if (const auto loss = here.tuples.loss()) {
      add(q, "ranking_loss", *loss,
          there ? there->tuples.loss() : std::nullopt);
    }
  }
  return content;
}

std::string FormatTrecRun(const Evaluation& evaluation,
                          const Collection& collection) {
  std::string content;
  for (const QueryEvaluation& query : evaluation.queries) {
    const std::string& query_id = collection.queries[query.query].id;
    for (std::size_t i = 0; i < query.run.size(); ++i) {
      const RankedDocument& ranked = query.run[i];
      // Nine digits distinguish any two floats.
      absl::StrAppendFormat(&content, "%s Q0 %s %d %.9g %s\n", query_id,
                            evaluation.IdOf(ranked.index, collection), i + 1,
                            ranked.score, evaluation.ranker);
    }
  }
  return content;
}

std::string FormatTuned(const TuningResult& tuned) {
  return absl::StrFormat(
      "  cross-validated: %s on one half, %s on the other; best on all: %s\n",
      tuned.best_on_half[0], tuned.best_on_half[1], tuned.best);
}

void PrintSlices(const Results& results, const ResultTable& table,
                 std::ostream& out) {
  for (const Slice& slice : results.slices) {
    out << absl::StrFormat("\nslice %s\n", slice.name);
    bool first = true;
    for (const Evaluation& evaluation : results.evaluations) {
      const Evaluation part = evaluation.OfQueries(slice.queries);
      // The queries of a slice are the same for every ranker.
      if (part.queries.empty()) {
        out << "no query with a relevant document\n";
        break;
      }
      if (first) {
        out << absl::StrFormat("%d queries\n", part.queries.size())
            << table.Head();
      }
      first = false;
      out << table.Rows(part);
    }
  }
}

void PrintComparisons(const Results& results, std::ostream& out) {
  if (results.baseline() == nullptr) return;
  // The last evaluation is that of the baseline.
  for (std::size_t i = 0; i + 1 < results.evaluations.size(); ++i) {
    out << FormatComparison(results.evaluations[i], *results.baseline(),
                            results.collection);
  }
  // With one ranker and its baseline the matrix would repeat the comparison.
  if (results.evaluations.size() > 2) out << FormatMatrix(results.evaluations);
}

void PrintJson(const Results& results, std::ostream& out) {
  const Evaluation* baseline = results.baseline();
  std::vector<nlohmann::ordered_json> matrix;
  if (baseline != nullptr && results.evaluations.size() > 2) {
    matrix = MatrixToJson(results.evaluations);
  }
  for (std::size_t i = 0; i < results.options.rankers.size(); ++i) {
    const Evaluation& evaluation = results.evaluations[i];
    nlohmann::ordered_json json = EvaluationToJson(evaluation);
    AddOptions(results.options.evaluate, json);
    if (const auto& tuned = results.tuned[i]) {
      json["tuned"] = {{"on_half", tuned->best_on_half},
                       {"on_all", tuned->best}};
    }
    if (!results.slices.empty()) {
      json["slices"] = SlicesToJson(results, evaluation);
    }
    if (baseline != nullptr) {
      json["baseline"] = EvaluationToJson(*baseline);
      if (!results.slices.empty()) {
        json["baseline"]["slices"] = SlicesToJson(results, *baseline);
      }
      json["comparison"] = ComparisonToJson(evaluation, *baseline);
      json["top_grades"] =
          TopGradeMatrix(evaluation, *baseline, results.collection);
      json["moved_queries"] =
          MovedQueriesToJson(evaluation, *baseline, results.collection);
    }
    if (!matrix.empty()) json["matrix"] = matrix[i];
    // The name of a run's file need not be UTF-8, which JSON must be.
    out << json.dump(-1, ' ', false,
                     nlohmann::ordered_json::error_handler_t::replace)
        << "\n";
  }
}

std::string TopGradeFigure(const Results& results) {
  Chart chart{.title = "Queries by the grade of the first document",
              .x_label = "grade",
              .y_label = "queries"};
  for (const Evaluation& evaluation : results.evaluations) {
    ChartSeries& series = chart.series.emplace_back();
    series.name = evaluation.ranker;
    for (const int grade : TopGrades(evaluation, results.collection)) {
      // A grade that no first document has keeps a bar of height 0, so that the
      // bars of one grade stand side by side.
      while (std::cmp_less_equal(series.points.size(), grade)) {
        series.points.push_back({static_cast<double>(series.points.size()), 0});
      }
      ++series.points[grade].y;
    }
  }
  return SvgFile(BarChart(chart));
}

}  // namespace semrank
