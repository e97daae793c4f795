#include "model/eval/evaluation_output.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "absl/strings/str_format.h"

namespace semrank {
namespace {

// Wide enough for the longest name, "letter_tfidf+model".
constexpr int kNameWidth = 18;
constexpr int kValueWidth = 9;

// `ranking_loss` is the last cell; nullopt leaves it empty.
std::string FormatRow(std::string_view name, const MetricValues& values,
                      std::optional<double> ranking_loss) {
  std::string row = absl::StrFormat("%-*s", kNameWidth, name);
  for (const double value : values) {
    absl::StrAppendFormat(&row, "%*.4f", kValueWidth, value);
  }
  if (ranking_loss) {
    absl::StrAppendFormat(&row, "%*.4f", kValueWidth, *ranking_loss);
  }
  return row + "\n";
}

nlohmann::ordered_json ToJson(const MetricValues& values) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (int metric = 0; metric < kNumMetrics; ++metric) {
    json[std::string(kMetricNames[metric])] = values[metric];
  }
  return json;
}

std::string_view NameOf(Candidates candidates) {
  return candidates == Candidates::kAll ? "all" : "judged";
}

// The largest float below `previous` that every reader distinguishes from it:
// steps around zero would be denormal numbers, which some readers flush to
// zero.
float JustBelow(float previous) {
  constexpr float kSmallestStep = 1e-30f;
  const float next =
      std::nextafter(previous, -std::numeric_limits<float>::infinity());
  return std::abs(next) < kSmallestStep ? -kSmallestStep : next;
}

}  // namespace

std::string FormatTableHead(const Collection& collection,
                            const EvaluateOptions& options) {
  const auto num_queries = std::count_if(
      collection.queries.begin(), collection.queries.end(),
      [](const JudgedQuery& query) { return query.HasRelevant(); });
  std::string head = absl::StrFormat(
      "%d queries, %d documents, candidates: %s, gain: %s\n\n%-*s", num_queries,
      collection.documents.size(),
      options.candidates == Candidates::kAll ? "all documents"
                                             : "the query's judged documents",
      options.gain == Gain::kExponential ? "2^grade - 1" : "grade", kNameWidth,
      "ranker");
  for (const std::string_view name : kMetricNames) {
    absl::StrAppendFormat(&head, "%*s", kValueWidth, name);
  }
  return head + absl::StrFormat("%*s\n", kValueWidth, "rloss");
}

std::string FormatTableRows(const Evaluation& evaluation) {
  return FormatRow(evaluation.ranker, evaluation.summary.mean,
                   evaluation.ranking_loss()) +
         FormatRow("  +-", evaluation.summary.standard_error, std::nullopt);
}

std::string FormatJson(const Evaluation& evaluation,
                       const EvaluateOptions& options) {
  nlohmann::ordered_json json;
  json["ranker"] = evaluation.ranker;
  json["queries"] = evaluation.queries.size();
  json["metrics"] = ToJson(evaluation.summary.mean);
  json["standard_errors"] = ToJson(evaluation.summary.standard_error);
  if (const auto loss = evaluation.ranking_loss()) {
    json["ranking_loss"] = *loss;
  }
  json["candidates"] = std::string(NameOf(options.candidates));
  json["gain"] = options.gain == Gain::kExponential ? "exponential" : "linear";
  return json.dump() + "\n";
}

std::string FormatTrecRun(const Evaluation& evaluation,
                          const Collection& collection) {
  std::string content;
  for (const QueryEvaluation& query : evaluation.queries) {
    const std::string& query_id = collection.queries[query.query].id;
    float previous = std::numeric_limits<float>::infinity();
    for (std::size_t i = 0; i < query.run.size(); ++i) {
      const RankedDocument& ranked = query.run[i];
      const float score =
          ranked.score < previous ? ranked.score : JustBelow(previous);
      // Nine digits distinguish any two floats.
      absl::StrAppendFormat(&content, "%s Q0 %s %d %.9g %s\n", query_id,
                            collection.document_ids[ranked.index], i + 1, score,
                            evaluation.ranker);
      previous = score;
    }
  }
  return content;
}

}  // namespace semrank
