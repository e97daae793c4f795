#include "model/eval/evaluate_command.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/bad_lines.h"
#include "model/base/file_io.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/base/thread_pool.h"
#include "model/cli/command_line.h"
#include "model/cli/exit_code.h"
#include "model/eval/collection/slices.h"
#include "model/eval/collection/trec_run.h"
#include "model/eval/comparison_output.h"
#include "model/eval/evaluation_output.h"
#include "model/text/ngram_vocabulary.h"

namespace semrank {
namespace {

constexpr std::string_view kRunPrefix = "run:";

bool IsRun(std::string_view ranker) {
  return ranker.starts_with(kRunPrefix) && ranker != kRunPrefix;
}

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

// All that is printed.
struct Results {
  const EvaluateCommandOptions& options;
  const Collection& collection;
  std::vector<Slice> slices = {};
  // One for each of options.rankers, then that of the baseline.
  std::vector<Evaluation> evaluations = {};
  // The tuned values of each, or nothing.
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
        collection_(collection),
        bad_lines_(bad_lines),
        pool_(options.num_threads) {}

  // Appends to evaluations and tuned.
  absl::Status Evaluate(const std::string& name, Results& results) {
    std::vector<std::string> flags;
    for (const std::string& flag : options_.tune) {
      if (IsTunable(name, flag)) flags.push_back(flag);
    }
    results.tuned.emplace_back();
    if (flags.empty()) {
      SEMRANK_ASSIGN_OR_RETURN(Evaluation evaluation,
                               EvaluateWith(name, options_.ranker_options));
      results.evaluations.push_back(std::move(evaluation));
    } else {
      SEMRANK_ASSIGN_OR_RETURN(TuningResult tuned,
                               Tune(flags, options_.ranker_options, collection_,
                                    [&](const RankerOptions& ranker_options) {
                                      return EvaluateWith(name, ranker_options);
                                    }));
      results.evaluations.push_back(std::move(tuned.evaluation));
      results.tuned.back() = std::move(tuned);
    }
    results.evaluations.back().ranker = name;
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<Evaluation> EvaluateWith(const std::string& name,
                                          const RankerOptions& ranker_options) {
    if (IsRun(name)) {
      SEMRANK_ASSIGN_OR_RETURN(
          const TrecRun run,
          ReadTrecRun(name.substr(kRunPrefix.size()), collection_, bad_lines_));
      return EvaluateRun(run, collection_, options_.evaluate);
    }
    SEMRANK_ASSIGN_OR_RETURN(
        const auto ranker,
        CreateRanker(name, ranker_options, collection_, pool_));
    return EvaluateRanker(*ranker, collection_, options_.evaluate, pool_);
  }

  const EvaluateCommandOptions& options_;
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
      json["moved_queries"] =
          MovedQueriesToJson(evaluation, *baseline, results.collection);
    }
    if (!matrix.empty()) json["matrix"] = matrix[i];
    // Ids and names of slices need not be UTF-8, which JSON must be.
    out << json.dump(-1, ' ', false,
                     nlohmann::ordered_json::error_handler_t::replace)
        << "\n";
  }
}

absl::Status WriteFiles(const Results& results) {
  const EvaluateCommandOptions& options = results.options;
  const Evaluation& only = results.evaluations.front();
  if (!options.run_out.empty()) {
    SEMRANK_RETURN_IF_ERROR(
        ReplaceFile(options.run_out, FormatTrecRun(only, results.collection)));
  }
  if (options.per_query.empty()) return absl::OkStatus();
  return ReplaceFile(options.per_query, FormatPerQuery(only, results.baseline(),
                                                       results.collection));
}

absl::Status RequireFile(std::string_view flag, const std::string& value) {
  if (!value.empty()) return absl::OkStatus();
  return FlagError(flag, value, "needed, but not given");
}

absl::Status CheckRanker(std::string_view flag, const std::string& given,
                         const std::string& ranker,
                         const EvaluateCommandOptions& options) {
  if (IsRun(ranker)) return absl::OkStatus();
  const absl::Status status = CheckRankerName(ranker);
  if (!status.ok()) return FlagError(flag, given, ToStd(status.message()));
  if (UsesModelDir(ranker) && options.ranker_options.model_dir.empty()) {
    return FlagError("model_dir", "",
                     absl::StrFormat("needed by --%s=%s", flag, ranker));
  }
  return absl::OkStatus();
}

absl::Status ResolveRankers(EvaluateCommandOptions& options) {
  std::vector<std::string>& rankers = options.rankers;
  const std::string given = absl::StrJoin(rankers, ",");
  const std::string& hybrid = options.hybrid;
  if (!hybrid.empty() && hybrid != "bm25" && hybrid != "letter_tfidf" &&
      hybrid != "word_tfidf") {
    return FlagError("hybrid", hybrid,
                     "must be one of bm25, letter_tfidf, word_tfidf");
  }
  if (rankers.empty()) return FlagError("ranker", given, "names no ranker");
  if (rankers == std::vector<std::string>{hybrid}) {
    return FlagError("hybrid", hybrid, "--ranker is the same");
  }
  for (std::string& ranker : rankers) {
    if (!hybrid.empty() && ranker != hybrid) ranker += "+" + hybrid;
    SEMRANK_RETURN_IF_ERROR(CheckRanker("ranker", given, ranker, options));
  }
  if (options.baseline.empty()) return absl::OkStatus();
  return CheckRanker("baseline", options.baseline, options.baseline, options);
}

absl::Status CheckTune(const EvaluateCommandOptions& options) {
  const std::vector<std::string>& flags = options.tune;
  const std::string given = absl::StrJoin(flags, ",");
  for (auto flag = flags.begin(); flag != flags.end(); ++flag) {
    if (std::find(kTunableFlags.begin(), kTunableFlags.end(), *flag) ==
        kTunableFlags.end()) {
      return FlagError(
          "tune", given,
          absl::StrFormat("'%s' is none of bm25_k1, bm25_b, hybrid_weight",
                          *flag));
    }
    if (std::find(flags.begin(), flag, *flag) != flag) {
      return FlagError("tune", given,
                       absl::StrFormat("names '%s' twice", *flag));
    }
    if (!IsTunable(options.baseline, *flag) &&
        std::none_of(options.rankers.begin(), options.rankers.end(),
                     [&](const std::string& ranker) {
                       return IsTunable(ranker, *flag);
                     })) {
      return FlagError("tune", given,
                       absl::StrFormat("no --ranker depends on %s", *flag));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckTakesOneRanker(std::string_view flag, const std::string& file,
                                 const EvaluateCommandOptions& options) {
  if (file.empty() || options.rankers.size() == 1) return absl::OkStatus();
  return FlagError(flag, file, "takes one --ranker, not several");
}

}  // namespace

void AddEvaluateOptions(CommandLine& command_line,
                        EvaluateCommandOptions& options) {
  RankerOptions& ranker = options.ranker_options;
  command_line.Group("Collection");
  command_line.Add("docs", &options.files.documents,
                   "File of documents, doc_id<TAB>title a line; .gz and .zst "
                   "too.");
  command_line.Add("queries", &options.files.queries,
                   "File of queries, query_id<TAB>query a line; .gz and .zst "
                   "too.");
  command_line.Add("qrels", &options.files.qrels,
                   "Judgements in TREC form, query_id 0 doc_id grade a line; "
                   "grade 1 and above is relevant; .gz and .zst too.");
  command_line.Add(
      "candidates", &options.evaluate.candidates,
      "Documents that are ranked for a query: all, or those "
      "judged for it.",
      {{"all", Candidates::kAll}, {"judged", Candidates::kJudged}});
  command_line.Group("Ranking");
  command_line.Add("ranker", &options.rankers,
                   "Rankers to evaluate, one result each: model (as it is "
                   "served), tower (its vectors alone), model:DIR, bm25, "
                   "letter_tfidf, word_tfidf, a pair such as model+bm25, "
                   "or run:FILE, a TREC run. With +name_match behind it, "
                   "documents whose name is the query come first, as in the "
                   "server's search.");
  command_line.Add("baseline", &options.baseline,
                   "Compares each of --ranker with this ranker: differences, "
                   "p values, and the queries that moved most. Empty = none.");
  command_line.Add("model_dir", &ranker.model_dir,
                   "Model directory, models/<name>; needed by the ranker "
                   "model.");
  command_line.Add("model_version", &ranker.model_version,
                   "Version of the model; 0 = the highest complete one.",
                   {.min = 0});
  command_line.Add(
      "hybrid", &options.hybrid,
      "Adds this ranker, bm25, letter_tfidf or word_tfidf, to "
      "each other one of --ranker: --ranker=model --hybrid=bm25 is "
      "the ranker model+bm25.");
  command_line.Group("Ranking", CommandLine::Level::kAdvanced);
  command_line.Add("hybrid_weight", &ranker.hybrid_weight,
                   "Weight of the added ranker. Its best score for a query "
                   "counts as 1, and the scores of the other ranker are not "
                   "scaled (cosines, for a model). The weaker the model, the "
                   "higher.",
                   {.min = 0, .max = 1000});
  command_line.Add("bm25_k1", &ranker.bm25.k1,
                   "BM25: term-frequency saturation; the higher, the more "
                   "repeats of a word count.",
                   {.min = 0, .max = 1000});
  command_line.Add("bm25_b", &ranker.bm25.b,
                   "BM25: length normalization; 0 = none, 1 = full.",
                   {.min = 0, .max = 1});
  command_line.Add("tune", &options.tune,
                   "Chooses these of bm25_k1, bm25_b and hybrid_weight by "
                   "two-fold cross-validation on the queries: each half is "
                   "measured with the values that are best on the other half.");
  command_line.Add("tfidf_ngram", &ranker.tfidf_ngram_length,
                   "Letters in an n-gram of letter_tfidf.",
                   {.min = kMinNgramLength, .max = kMaxNgramLength});
  command_line.Group("Results");
  command_line.Add(
      "output", &options.output,
      "Form of the results: table, or json (one object a line).",
      {{"table", OutputFormat::kTable}, {"json", OutputFormat::kJson}});
  command_line.Add(
      "gain", &options.evaluate.gain,
      "Gain of a grade in NDCG: exponential is 2^grade - 1, "
      "linear is the grade, as in trec_eval.",
      {{"exponential", Gain::kExponential}, {"linear", Gain::kLinear}});
  command_line.Add(
      "ties", &options.evaluate.ties,
      "Documents of equal score: expected measures the mean over all of their "
      "orders, trec ranks the higher id first, as trec_eval does.",
      {{"expected", Ties::kExpected}, {"trec", Ties::kTrec}});
  command_line.Add("slices", &options.slices,
                   "File of named parts of the queries, query_id<TAB>slice a "
                   "line; each is also measured by itself. Empty = none.");
  command_line.Add("per_query", &options.per_query,
                   "File for the metrics of each query, query_id<TAB>metric"
                   "<TAB>value a line, and the baseline's value behind it; for "
                   "one ranker. Empty = none.");
  command_line.Add("run_out", &options.run_out,
                   "File for the ranking in TREC run form, written at the end; "
                   "for one ranker. Empty = none.");
  command_line.Group("Results", CommandLine::Level::kAdvanced);
  command_line.Add("run_depth", &options.run_depth,
                   "Documents of each query in --run_out.", {.min = 1});
  command_line.Add("max_bad_lines", &options.max_bad_lines,
                   "Bad lines over all files that are skipped; one more ends "
                   "the run.",
                   {.min = 0});
  command_line.Add("threads", &options.num_threads,
                   "Number of threads; does not change the results. 0 = one "
                   "for each processor.",
                   {.min = 0, .max = 1024});
}

absl::Status Resolve(EvaluateCommandOptions& options) {
  SEMRANK_RETURN_IF_ERROR(RequireFile("docs", options.files.documents));
  SEMRANK_RETURN_IF_ERROR(RequireFile("queries", options.files.queries));
  SEMRANK_RETURN_IF_ERROR(RequireFile("qrels", options.files.qrels));
  SEMRANK_RETURN_IF_ERROR(ResolveRankers(options));
  SEMRANK_RETURN_IF_ERROR(CheckTune(options));
  SEMRANK_RETURN_IF_ERROR(
      CheckTakesOneRanker("run_out", options.run_out, options));
  SEMRANK_RETURN_IF_ERROR(
      CheckTakesOneRanker("per_query", options.per_query, options));
  if (!options.run_out.empty()) options.evaluate.run_depth = options.run_depth;
  if (!options.baseline.empty() &&
      options.evaluate.run_depth < kTopDocumentsShown) {
    options.evaluate.run_depth = kTopDocumentsShown;
  }
  if (options.num_threads == 0) options.num_threads = NumUsableProcessors();
  return absl::OkStatus();
}

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
  // One ranker at a time: the index or the vectors of each may fill the memory.
  RankerEvaluator evaluator(options, collection, bad_lines);
  for (const std::string& name : names) {
    SEMRANK_RETURN_IF_ERROR(evaluator.Evaluate(name, results));
    if (json) continue;
    out << table.Rows(results.evaluations.back());
    if (const auto& tuned = results.tuned.back()) out << FormatTuned(*tuned);
    out << std::flush;
  }
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
