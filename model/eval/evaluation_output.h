// Prints and writes the results of an evaluation.
//
//   Table     for people: means to four places, standard errors below them.
//   JSON      for programs: numbers in full precision.
//   TREC run  the rankings themselves, for trec_eval and similar tools.
#ifndef SEMRANK_MODEL_EVAL_EVALUATION_OUTPUT_H_
#define SEMRANK_MODEL_EVAL_EVALUATION_OUTPUT_H_

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "model/data/collection.h"
#include "model/eval/metrics/evaluate.h"

namespace semrank {

// A line that describes what was evaluated.
std::string FormatCollection(const Collection& collection,
                             const EvaluateOptions& options);

// Formats rows with aligned columns: the first is as wide as the longest name
// of a ranker.
class ResultTable {
 public:
  explicit ResultTable(std::span<const std::string> rankers);

  std::string Head() const;
  // Two lines: the means, and their standard errors. "rloss" is the mean over
  // queries; "tied" the share of queries with ties that could change a metric.
  std::string Rows(const Evaluation& evaluation) const;

 private:
  int name_width_;
};

// {"ranker": ..., "queries": n, "metrics": {"ndcg@1": x, ...},
//  "standard_errors": {...}, "ranking_loss": x, "mean_ranking_loss": x,
//  "tied_queries": x}
nlohmann::ordered_json EvaluationToJson(const Evaluation& evaluation);

// Adds "candidates", "gain" and "ties" to `json`.
void AddOptions(const EvaluateOptions& options, nlohmann::ordered_json& json);

// A line a query and metric: query id, metric, value and, if there is one, the
// baseline's value, with tabs between.
std::string FormatPerQuery(const Evaluation& evaluation,
                           const Evaluation* baseline,
                           const Collection& collection);

// Rankings in TREC run format, one line a document:
//
//   query_id Q0 doc_id rank score ranker
//
// Tied documents have equal scores and are in trec_eval's order, by descending
// id.
std::string FormatTrecRun(const Evaluation& evaluation,
                          const Collection& collection);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_EVALUATION_OUTPUT_H_
