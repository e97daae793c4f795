#include "model/eval/evaluate_command.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/base/file_io.h"
#include "model/base/status_macros.h"
#include "model/base/thread_pool.h"
#include "model/data/collection.h"
#include "model/data/input_lines.h"
#include "model/data/trec_run.h"
#include "model/eval/comparison_output.h"
#include "model/eval/evaluation_output.h"
#include "model/eval/metrics/comparison.h"
#include "model/eval/tuning.h"
#include "model/html/svg_chart.h"

namespace semrank {
namespace {

void Remark(const std::string& text) {
  absl::FPrintF(stderr, "semrank-eval: %s\n", text);
}

// Reports properties of the input that explain surprising figures.
void RemarkOnCollection(const Collection& collection,
                        const EvaluateCommandOptions& options,
                        std::int64_t num_bad_lines) {
  if (num_bad_lines > 0) {
    Remark(absl::StrFormat("bad lines skipped: %d", num_bad_lines));
  }
  if (collection.num_unknown_documents > 0) {
    Remark(absl::StrFormat(
        "judgements of documents that are not in %s: %d; the relevant ones "
        "count as not found",
        options.files.documents, collection.num_unknown_documents));
  }
  const auto left_out = std::count_if(
      collection.queries.begin(), collection.queries.end(),
      [](const JudgedQuery& query) { return !query.HasRelevant(); });
  if (left_out > 0) {
    Remark(absl::StrFormat(
        "queries excluded, as no document has grade 1 or more: %d", left_out));
  }
  // Qrels without grade 0 (clicks, for example) leave nothing to rank below.
  const bool only_relevant = std::all_of(
      collection.queries.begin(), collection.queries.end(),
      [](const JudgedQuery& query) {
        return std::all_of(query.judgements.begin(), query.judgements.end(),
                           [](const Judgement& j) { return j.grade >= 1; });
      });
  if (only_relevant && options.evaluate.candidates == Candidates::kJudged) {
    Remark(
        "every judged document is relevant, so most orders of them are "
        "perfect; --candidates=all ranks the whole collection");
  }
}

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

class RankerEvaluator {
 public:
  RankerEvaluator(const EvaluateCommandOptions& options,
                  const Collection& collection, BadLines& bad_lines)
      : options_(options),
        ranker_options_(options.ranker_options),
        collection_(collection),
        bad_lines_(bad_lines),
        pool_(options.num_threads) {}

  // Appends to evaluations and tuned.
  absl::Status Evaluate(const std::string& name, Results& results) {
    // A flag of --tune may belong to one of several rankers.
    std::vector<std::string> flags;
    for (const std::string& flag : options_.tune) {
      if (IsTunable(name, flag)) flags.push_back(flag);
    }
    results.tuned.emplace_back();
    // Learning comes before tuning, which changes only the smoothing.
    SEMRANK_RETURN_IF_ERROR(LearnIfNeeded(name));
    if (flags.empty()) {
      SEMRANK_ASSIGN_OR_RETURN(Evaluation evaluation,
                               EvaluateWith(name, ranker_options_));
      results.evaluations.push_back(std::move(evaluation));
    } else {
      SEMRANK_ASSIGN_OR_RETURN(TuningResult tuned,
                               Tune(flags, ranker_options_, collection_,
                                    [&](const RankerOptions& ranker_options) {
                                      return EvaluateWith(name, ranker_options);
                                    }));
      results.evaluations.push_back(std::move(tuned.evaluation));
      results.tuned.back() = std::move(tuned);
    }
    // Names the ranker as the user did: every model's ranker has the name
    // "model", but two of them may be compared.
    results.evaluations.back().ranker = name;
    return absl::OkStatus();
  }

 private:
  // Translations are learned once for all rankers and all tried values.
  absl::Status LearnIfNeeded(const std::string& name) {
    if (RunFile(name) || !UsesTranslations(name) ||
        ranker_options_.translation_model != nullptr) {
      return absl::OkStatus();
    }
    SEMRANK_ASSIGN_OR_RETURN(ranker_options_.translation_model,
                             LearnTranslations(options_.train, bad_lines_));
    return absl::OkStatus();
  }

  absl::StatusOr<TrecRun> ReadRun(const std::string& file) {
    const std::int64_t num_bad_before = bad_lines_.count();
    SEMRANK_ASSIGN_OR_RETURN(TrecRun run,
                             ReadTrecRun(file, collection_, bad_lines_));
    if (const auto num_bad = bad_lines_.count() - num_bad_before; num_bad > 0) {
      Remark(absl::StrFormat("%s: bad lines skipped: %d", file, num_bad));
    }
    if (run.num_unknown_documents > 0) {
      Remark(absl::StrFormat(
          "%s: ranked documents that are not in %s: %d; %s", file,
          options_.files.documents, run.num_unknown_documents,
          options_.evaluate.candidates == Candidates::kAll
              ? "they keep their ranks, and are relevant if the qrels say so"
              : "--candidates=judged leaves them out"));
    }
    return run;
  }

  absl::StatusOr<Evaluation> EvaluateWith(const std::string& name,
                                          const RankerOptions& ranker_options) {
    if (const auto file = RunFile(name)) {
      SEMRANK_ASSIGN_OR_RETURN(const TrecRun run, ReadRun(std::string(*file)));
      return EvaluateRun(run, collection_, options_.evaluate);
    }
    SEMRANK_ASSIGN_OR_RETURN(
        const auto ranker,
        CreateRanker(name, ranker_options, collection_, pool_));
    return EvaluateRanker(*ranker, collection_, options_.evaluate, pool_);
  }

  const EvaluateCommandOptions& options_;
  RankerOptions ranker_options_;
  const Collection& collection_;
  BadLines& bad_lines_;
  ThreadPool pool_;
};

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
  for (std::size_t i = 0; i + 1 < results.evaluations.size(); ++i) {
    out << FormatComparison(results.evaluations[i], *results.baseline(),
                            results.collection);
  }
  if (results.evaluations.size() > 2) out << FormatMatrix(results.evaluations);
}

nlohmann::ordered_json SlicesToJson(const Results& results,
                                    const Evaluation& evaluation) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const Slice& slice : results.slices) {
    const Evaluation part = evaluation.OfQueries(slice.queries);
    if (part.queries.empty()) continue;
    json[slice.name] = EvaluationToJson(part);
    json[slice.name].erase("ranker");
  }
  return json;
}

// One object a line for each ranker; the baseline's is inside of them.
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

// Figure 3 of the CLSM paper.
std::string TopGradeFigure(const Results& results) {
  Chart chart{.title = "Queries by the grade of the first document",
              .x_label = "grade",
              .y_label = "queries"};
  for (const Evaluation& evaluation : results.evaluations) {
    ChartSeries& series = chart.series.emplace_back();
    series.name = evaluation.ranker;
    for (const int grade : TopGrades(evaluation, results.collection)) {
      while (std::cmp_less_equal(series.points.size(), grade)) {
        series.points.push_back({static_cast<double>(series.points.size()), 0});
      }
      ++series.points[grade].y;
    }
  }
  return SvgFile(BarChart(chart));
}

absl::Status WriteFiles(const Results& results) {
  const EvaluateCommandOptions& options = results.options;
  if (!options.svg_out.empty()) {
    SEMRANK_RETURN_IF_ERROR(
        ReplaceFile(options.svg_out, TopGradeFigure(results)));
  }
  const Evaluation& only = results.evaluations.front();
  if (!options.run_out.empty()) {
    SEMRANK_RETURN_IF_ERROR(
        ReplaceFile(options.run_out, FormatTrecRun(only, results.collection)));
  }
  if (options.per_query.empty()) return absl::OkStatus();
  return ReplaceFile(options.per_query, FormatPerQuery(only, results.baseline(),
                                                       results.collection));
}

}  // namespace

absl::Status RunEvaluateCommand(const EvaluateCommandOptions& options,
                                std::ostream& out) {
  BadLines bad_lines(options.max_bad_lines);
  SEMRANK_ASSIGN_OR_RETURN(const Collection collection,
                           ReadCollection(options.files, bad_lines));
  Results results{options, collection};
  if (!options.slices.empty()) {
    SEMRANK_ASSIGN_OR_RETURN(results.slices,
                             ReadSlices(options.slices, collection, bad_lines));
  }
  RemarkOnCollection(collection, options, bad_lines.count());
  std::vector<std::string> names = options.rankers;
  if (!options.baseline.empty()) names.push_back(options.baseline);
  const ResultTable table(names);
  const bool json = options.output == OutputFormat::kJson;
  if (!json) {
    out << FormatCollection(collection, options.evaluate) << "\n"
        << table.Head() << std::flush;
  }
  // Evaluates one ranker at a time: the index or the vectors of each may fill
  // the memory.
  RankerEvaluator evaluator(options, collection, bad_lines);
  for (const std::string& name : names) {
    SEMRANK_RETURN_IF_ERROR(evaluator.Evaluate(name, results));
    if (json) continue;
    out << table.Rows(results.evaluations.back());
    if (const auto& tuned = results.tuned.back()) out << FormatTuned(*tuned);
    out << std::flush;
  }
  // Files are written before the rest of the output: if the reader closes the
  // pipe, they are complete.
  SEMRANK_RETURN_IF_ERROR(WriteFiles(results));
  if (json) {
    PrintJson(results, out);
  } else {
    PrintSlices(results, table, out);
    PrintComparisons(results, out);
  }
  return absl::OkStatus();
}

}  // namespace semrank
