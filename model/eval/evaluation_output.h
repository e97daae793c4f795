// Prints and writes the results of an evaluation.
//
//   Table     for people: means to four places, standard errors below them.
//   JSON      for programs: numbers in full precision.
//   TREC run  the rankings themselves, for trec_eval and similar tools.
#ifndef SEMRANK_MODEL_EVAL_EVALUATION_OUTPUT_H_
#define SEMRANK_MODEL_EVAL_EVALUATION_OUTPUT_H_

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/data/collection.h"
#include "model/eval/evaluate_options.h"
#include "model/eval/metrics/evaluate.h"
#include "model/eval/tuning.h"

namespace semrank {

// A line that describes what was evaluated.
std::string FormatCollection(const Collection& collection,
                             const EvaluateOptions& options);

// All results that are printed.
struct Results {
  const EvaluateCommandOptions& options;
  const Collection& collection;
  std::vector<Slice> slices = {};
  // One for each of options.rankers, then that of the baseline.
  std::vector<Evaluation> evaluations = {};
  // The tuned values of each, or nullopt.
  std::vector<std::optional<TuningResult>> tuned = {};

  const Evaluation* baseline() const {
    return options.baseline.empty() ? nullptr : &evaluations.back();
  }
};

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

// The line below a ranker's rows that names its tuned values.
std::string FormatTuned(const TuningResult& tuned);

// What follows the table: a table for each slice, then the comparisons with
// the baseline.
void PrintSlices(const Results& results, const ResultTable& table,
                 std::ostream& out);
void PrintComparisons(const Results& results, std::ostream& out);

// One object a line for each ranker; the baseline's is inside of them.
void PrintJson(const Results& results, std::ostream& out);

// Figure 3 of the CLSM paper: SVG.
std::string TopGradeFigure(const Results& results);

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
// Tied documents have equal scores and are in trec_eval's order, by
// descending id.
std::string FormatTrecRun(const Evaluation& evaluation,
                          const Collection& collection);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_EVALUATION_OUTPUT_H_
