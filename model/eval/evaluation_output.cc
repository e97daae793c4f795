#include "model/eval/evaluation_output.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "absl/strings/str_format.h"

namespace semrank {
namespace {

constexpr int kMinNameWidth = 18;
constexpr int kValueWidth = 9;

std::string FormatValues(const MetricValues& values) {
  std::string row;
  for (const double value : values) {
    absl::StrAppendFormat(&row, "%*.4f", kValueWidth, value);
  }
  return row;
}

std::string NameOf(Candidates candidates) {
  return candidates == Candidates::kAll ? "all" : "judged";
}

}  // namespace

std::string FormatCollection(const Collection& collection,
                             const EvaluateOptions& options) {
  const auto num_queries = std::count_if(
      collection.queries.begin(), collection.queries.end(),
      [](const JudgedQuery& query) { return query.HasRelevant(); });
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
    // Over all tuples together, and as SSI defines it, the mean over the
    // queries.
    json["ranking_loss"] = *loss;
    json["mean_ranking_loss"] = mean.mean;
    json["standard_errors"]["mean_ranking_loss"] = mean.standard_error;
  }
  json["tied_queries"] = evaluation.tied_share();
  return json;
}

void AddOptions(const EvaluateOptions& options, nlohmann::ordered_json& json) {
  json["candidates"] = NameOf(options.candidates);
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

}  // namespace semrank
