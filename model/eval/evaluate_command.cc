#include "model/eval/evaluate_command.h"

#include <algorithm>
#include <memory>
#include <ostream>
#include <string_view>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/bad_lines.h"
#include "model/base/file_io.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/base/thread_pool.h"
#include "model/cli/command_line.h"
#include "model/cli/program.h"
#include "model/eval/evaluation_output.h"
#include "model/text/ngram_vocabulary.h"

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

absl::Status EvaluateOne(const std::string& name,
                         const EvaluateCommandOptions& options,
                         const Collection& collection, ThreadPool& pool,
                         std::ostream& out) {
  SEMRANK_ASSIGN_OR_RETURN(
      const std::unique_ptr<Ranker> ranker,
      CreateRanker(name, options.ranker_options, collection.documents, pool));
  SEMRANK_ASSIGN_OR_RETURN(
      const Evaluation evaluation,
      EvaluateRanker(*ranker, collection, options.evaluate, pool));
  if (!options.run_out.empty()) {
    SEMRANK_RETURN_IF_ERROR(
        ReplaceFile(options.run_out, FormatTrecRun(evaluation, collection)));
  }
  out << (options.output == OutputFormat::kJson
              ? FormatJson(evaluation, options.evaluate)
              : FormatTableRows(evaluation))
      << std::flush;
  return absl::OkStatus();
}

absl::Status RequireFile(std::string_view flag, const std::string& value) {
  if (!value.empty()) return absl::OkStatus();
  return FlagError(flag, value, "needed, but not given");
}

absl::Status ResolveRankers(EvaluateCommandOptions& options) {
  std::vector<std::string>& rankers = options.rankers;
  const std::string given = absl::StrJoin(rankers, ",");
  const std::string& hybrid = options.hybrid;
  if (!hybrid.empty() && hybrid != "bm25" && hybrid != "letter_tfidf") {
    return FlagError("hybrid", hybrid, "must be one of bm25, letter_tfidf");
  }
  if (rankers.empty()) return FlagError("ranker", given, "names no ranker");
  if (rankers == std::vector<std::string>{hybrid}) {
    return FlagError("hybrid", hybrid, "--ranker is the same");
  }
  for (std::string& ranker : rankers) {
    if (!hybrid.empty() && ranker != hybrid) ranker += "+" + hybrid;
    const absl::Status status = CheckRankerName(ranker);
    if (!status.ok()) {
      return FlagError("ranker", given, ToStd(status.message()));
    }
    if (UsesModel(ranker) && options.ranker_options.model_dir.empty()) {
      return FlagError("model_dir", "", "needed by --ranker=" + ranker);
    }
  }
  return absl::OkStatus();
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
                   "Rankers to evaluate, one result each: model, bm25, "
                   "letter_tfidf, or a pair such as model+bm25.");
  command_line.Add("model_dir", &ranker.model_dir,
                   "Model directory, models/<name>; needed by the ranker "
                   "model.");
  command_line.Add("model_version", &ranker.model_version,
                   "Version of the model; 0 = the highest complete one.",
                   {.min = 0});
  command_line.Add("hybrid", &options.hybrid,
                   "Adds this ranker, bm25 or letter_tfidf, to each other one "
                   "of --ranker: --ranker=model --hybrid=bm25 is the ranker "
                   "model+bm25.");
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
  if (!options.run_out.empty()) {
    options.evaluate.run_depth = options.run_depth;
    if (options.rankers.size() > 1) {
      return FlagError("run_out", options.run_out,
                       "takes one --ranker, not several");
    }
  }
  if (options.num_threads == 0) options.num_threads = NumUsableProcessors();
  return absl::OkStatus();
}

absl::Status RunEvaluateCommand(const EvaluateCommandOptions& options,
                                std::ostream& out) {
  BadLines bad_lines(options.max_bad_lines);
  SEMRANK_ASSIGN_OR_RETURN(const Collection collection,
                           ReadCollection(options.files, bad_lines));
  RemarkOnCollection(collection, options, bad_lines.count());
  ThreadPool pool(options.num_threads);
  if (options.output == OutputFormat::kTable) {
    out << FormatTableHead(collection, options.evaluate) << std::flush;
  }
  // One ranker at a time: the index or the vectors of each may fill the memory.
  for (const std::string& name : options.rankers) {
    SEMRANK_RETURN_IF_ERROR(EvaluateOne(name, options, collection, pool, out));
  }
  return absl::OkStatus();
}

}  // namespace semrank
