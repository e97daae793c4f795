// CommandLine checks each value by itself while it parses. Resolve makes the
// checks that need several flags, before any file is read: an evaluation may
// take minutes, and its files are written at the end.
#include "model/eval/evaluate_options.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/base/thread_pool.h"
#include "model/cli/command_line.h"
#include "model/cli/exit_code.h"
#include "model/cli/output_paths.h"
#include "model/eval/comparison_output.h"
#include "model/eval/rankers/language_model_rankers.h"
#include "model/eval/tuning.h"
#include "model/html/svg_chart.h"
#include "model/text/ngram_vocabulary.h"

namespace semrank {
namespace {

// run:FILE is a finished ranking: that of another system, or an earlier run's
// --run_out.
constexpr std::string_view kRunPrefix = "run:";

absl::Status RequireFile(std::string_view flag, const std::string& value) {
  if (!value.empty()) return absl::OkStatus();
  return FlagError(flag, value, "needed, but not given");
}

absl::Status CheckRanker(std::string_view flag, const std::string& given,
                         const std::string& ranker,
                         const EvaluateCommandOptions& options) {
  // A run needs neither a model nor training data; its file is read later.
  if (RunFile(ranker).has_value()) return absl::OkStatus();
  const absl::Status status = CheckRankerName(ranker);
  if (!status.ok()) return FlagError(flag, given, ToStd(status.message()));
  if (UsesModelDir(ranker) && options.ranker_options.model_dir.empty()) {
    return FlagError("model_dir", "",
                     absl::StrFormat("needed by --%s=%s", flag, ranker));
  }
  if (UsesTranslations(ranker) && options.train.empty()) {
    return FlagError("train", "",
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
  // Adding a ranker to itself keeps its order.
  if (rankers == std::vector<std::string>{hybrid}) {
    return FlagError("hybrid", hybrid, "--ranker is the same");
  }
  for (std::string& ranker : rankers) {
    // The sum would be the name of another file.
    if (!hybrid.empty() && ranker.starts_with(kRunPrefix)) {
      return FlagError("hybrid", hybrid,
                       "cannot be added to the run " + ranker);
    }
    // --ranker=bm25,model --hybrid=bm25: BM25 stays alone, for comparison.
    if (!hybrid.empty() && ranker != hybrid) ranker += "+" + hybrid;
    SEMRANK_RETURN_IF_ERROR(CheckRanker("ranker", given, ranker, options));
  }
  if (options.baseline.empty()) return absl::OkStatus();
  return CheckRanker("baseline", options.baseline, options.baseline, options);
}

// A flag that changes nothing would repeat the same evaluation for each of its
// values and look like a result.
absl::Status CheckTune(const EvaluateCommandOptions& options) {
  const std::vector<std::string>& flags = options.tune;
  const std::string given = absl::StrJoin(flags, ",");
  const std::vector<std::string> known = TunableFlags();
  for (auto flag = flags.begin(); flag != flags.end(); ++flag) {
    if (std::ranges::count(known, *flag) == 0) {
      return FlagError("tune", given,
                       absl::StrFormat("'%s' is none of %s", *flag,
                                       absl::StrJoin(known, ", ")));
    }
    if (std::find(flags.begin(), flag, *flag) != flag) {
      return FlagError("tune", given,
                       absl::StrFormat("names '%s' twice", *flag));
    }
    if (!IsTunable(options.baseline, *flag) &&
        std::ranges::none_of(options.rankers, [&](const std::string& ranker) {
          return IsTunable(ranker, *flag);
        })) {
      return FlagError("tune", given,
                       absl::StrFormat("no --ranker depends on %s", *flag));
    }
  }
  return absl::OkStatus();
}

// More colours than a chart has could not be distinguished.
absl::Status CheckFigure(const EvaluateCommandOptions& options) {
  const std::size_t num_rankers =
      options.rankers.size() + (options.baseline.empty() ? 0 : 1);
  if (options.svg_out.empty() || num_rankers <= kMaxChartSeries) {
    return absl::OkStatus();
  }
  return FlagError("svg_out", options.svg_out,
                   absl::StrFormat("shows at most %d rankers, not %d",
                                   kMaxChartSeries, num_rankers));
}

// Such a file has no column for the name of the ranker.
absl::Status CheckTakesOneRanker(std::string_view flag, const std::string& file,
                                 const EvaluateCommandOptions& options) {
  if (file.empty() || options.rankers.size() == 1) return absl::OkStatus();
  return FlagError(flag, file, "takes one --ranker, not several");
}

// The files of the results are written at the end, when all others are read,
// and each of them is a file of its own.
absl::Status CheckKeepsInputs(const EvaluateCommandOptions& options) {
  std::vector<FlagFile> inputs = {{"docs", options.files.documents},
                                  {"queries", options.files.queries},
                                  {"qrels", options.files.qrels},
                                  {"slices", options.slices}};
  for (const std::string& file : options.train) {
    inputs.push_back({"train", file});
  }
  // A ranker run:FILE reads its file too. The empty paths of the others name
  // no file.
  for (const std::string& ranker : options.rankers) {
    inputs.push_back({"ranker", std::string(RunFile(ranker).value_or(""))});
  }
  inputs.push_back(
      {"baseline", std::string(RunFile(options.baseline).value_or(""))});
  for (const FlagFile& output : {FlagFile{"run_out", options.run_out},
                                 FlagFile{"per_query", options.per_query},
                                 FlagFile{"svg_out", options.svg_out}}) {
    SEMRANK_RETURN_IF_ERROR(CheckKeepsInputs(output, inputs));
    inputs.push_back(output);
  }
  return absl::OkStatus();
}

}  // namespace

std::optional<std::string_view> RunFile(std::string_view ranker) {
  // CheckRankerName refuses "run:" alone with an error that lists the rankers.
  if (!ranker.starts_with(kRunPrefix) || ranker == kRunPrefix) {
    return std::nullopt;
  }
  return ranker.substr(kRunPrefix.size());
}

namespace {

void AddCollectionFlags(CommandLine& flags, EvaluateCommandOptions& options) {
  flags.Group("Collection");
  flags.Add("docs", &options.files.documents,
            "File of documents, doc_id<TAB>title a line, or .csv or .jsonl as "
            "for semrank put; .gz and .zst too.",
            "FILE");
  flags.Add("queries", &options.files.queries,
            "File of queries, query_id<TAB>query a line, or as --docs; .gz and "
            ".zst too.",
            "FILE");
  flags.Add("qrels", &options.files.qrels,
            "Judgements in TREC form, query_id 0 doc_id grade a line; grade 1 "
            "and above is relevant; .gz and .zst too.",
            "FILE");
  flags.Add("train", &options.train,
            "Files of clicked pairs, query<TAB>title[<TAB>clicks] a line, from "
            "which the rankers wtm and ptm learn.");
  flags.Add(
      "candidates", &options.evaluate.candidates,
      "Documents that are ranked for a query: all, or those judged for it.",
      {{"all", Candidates::kAll}, {"judged", Candidates::kJudged}});
}

void AddRankingFlags(CommandLine& flags, EvaluateCommandOptions& options) {
  RankerOptions& ranker = options.ranker_options;
  flags.Group("Ranking");
  flags.Add("ranker", &options.rankers,
            "Rankers to evaluate, one result each: model (as it is served), "
            "tower (its vectors alone), model:DIR, bm25, letter_tfidf, "
            "word_tfidf, ulm (unigram language model), mrf (sequential "
            "dependence), qe (query expansion), wtm and ptm (word and phrase "
            "translation), a pair such as model+bm25, or run:FILE, a TREC run. "
            "With +name_match after it, documents whose name is the query "
            "come first, as in the server's search.");
  flags.Add("baseline", &options.baseline,
            "Compares each of --ranker with this ranker: differences, p "
            "values, and the queries that moved most. Empty = none.",
            "RANKER");
  flags.Add("model_dir", &ranker.model_dir,
            "Model directory, models/<name>; needed by the ranker model.",
            "DIR");
  flags.Add("model_version", &ranker.model_version,
            "Version of the model; 0 = the highest complete one.", {.min = 0});
  flags.Add("parts", &ranker.parts,
            "What the ranker model scores by: both parts, as it is served, or "
            "one of them, the cosine of the towers or that of letter n-grams.",
            {{"both", ModelParts::kBoth},
             {"semantic", ModelParts::kSemantic},
             {"lexical", ModelParts::kLexical}});
  flags.Add(
      "hybrid", &options.hybrid,
      "Adds this ranker, bm25, letter_tfidf or word_tfidf, to each other one "
      "of --ranker: --ranker=model --hybrid=bm25 is the ranker model+bm25.",
      "RANKER");
}

void AddRankerValueFlags(CommandLine& flags, EvaluateCommandOptions& options) {
  RankerOptions& ranker = options.ranker_options;
  flags.Group("Ranking", CommandLine::Level::kAdvanced);
  flags.Add("hybrid_weight", &ranker.hybrid_weight,
            "Weight of the added ranker. Its best score for a query counts as "
            "1, and the scores of the other ranker are not scaled (cosines, "
            "for a model). The weaker the model, the higher.",
            {.min = 0, .max = 1000});
  flags.Add("bm25_k1", &ranker.bm25.k1,
            "BM25: term-frequency saturation; the higher, the more repeats of "
            "a word count.",
            {.min = 0, .max = 1000});
  flags.Add("bm25_b", &ranker.bm25.b,
            "BM25: length normalization; 0 = none, 1 = full.",
            {.min = 0, .max = 1});
  flags.Add("dirichlet_mu", &ranker.dirichlet_mu,
            "ulm and mrf: words of the collection that smooth each document.",
            {.min = 1e-6, .max = 1e6});
  flags.Add("mrf_ordered", &ranker.mrf.ordered,
            "mrf: weight of two query words side by side.",
            {.min = 0, .max = 1});
  flags.Add("mrf_unordered", &ranker.mrf.unordered,
            absl::StrFormat("mrf: weight of two query words within %d words.",
                            DependenceOptions::kWindow),
            {.min = 0, .max = 1});
  flags.Add("qe_documents", &ranker.qe.num_documents,
            "qe: documents that are added to the query.",
            {.min = 1, .max = 1000});
  flags.Add("qe_weight", &ranker.qe.weight, "qe: weight of their mean.",
            {.min = 0, .max = 1000});
  flags.Add("translation_background", &ranker.translation.background,
            "wtm and ptm: weight of the collection's word probabilities.",
            {.min = 1e-6, .max = 1});
  flags.Add(
      "translation_self", &ranker.translation.self,
      "wtm and ptm: weight of a title's own words beside their translations.",
      {.min = 0, .max = 1});
  flags.Add("tune", &options.tune,
            "Chooses the values of these flags by two-fold cross-validation on "
            "the queries: each half is measured with the values that are best "
            "on the other half. Known: " +
                absl::StrJoin(TunableFlags(), ", ") + ".");
  flags.Add("tfidf_ngram", &ranker.tfidf_ngram_length,
            "Letters in an n-gram of letter_tfidf.",
            {.min = kMinNgramLength, .max = kMaxNgramLength});
}

void AddResultFlags(CommandLine& flags, EvaluateCommandOptions& options) {
  flags.Group("Results");
  flags.Add("output", &options.output,
            "Form of the results: table, or json (one object a line).",
            {{"table", OutputFormat::kTable}, {"json", OutputFormat::kJson}});
  flags.Add("gain", &options.evaluate.gain,
            "Gain of a grade in NDCG: exponential is 2^grade - 1, linear is "
            "the grade, as in trec_eval.",
            {{"exponential", Gain::kExponential}, {"linear", Gain::kLinear}});
  flags.Add("ties", &options.evaluate.ties,
            "Documents of equal score: expected measures the mean over all of "
            "their orders, trec ranks the higher id first, as trec_eval does.",
            {{"expected", Ties::kExpected}, {"trec", Ties::kTrec}});
  flags.Add("slices", &options.slices,
            "File of named parts of the queries, query_id<TAB>slice a line; "
            "each is also measured by itself. Empty = none.",
            "FILE");
  flags.Add("per_query", &options.per_query,
            "File for the metrics of each query, query_id<TAB>metric<TAB>value "
            "a line, and the baseline's value after it; for one ranker. Empty "
            "= none.",
            "FILE");
  flags.Add("run_out", &options.run_out,
            "File for the ranking in TREC run form, written at the end; for "
            "one ranker. Empty = none.",
            "FILE");
  flags.Add("svg_out", &options.svg_out,
            "File for a figure (SVG): how many queries of each ranker have a "
            "first document of each grade; of inspect, the units of --query "
            "and --title. Empty = none.",
            "FILE");
  flags.Group("Results", CommandLine::Level::kAdvanced);
  flags.Add("run_depth", &options.run_depth,
            "Documents of each query in --run_out.", {.min = 1});
  AddBadLinesFlag(flags, &options.max_bad_lines);
  flags.Add("threads", &options.num_threads,
            "Number of threads; does not change the results. 0 = one for each "
            "processor.",
            {.min = 0, .max = 1024});
}

}  // namespace

void AddEvaluateOptions(CommandLine& flags, EvaluateCommandOptions& options) {
  AddCollectionFlags(flags, options);
  AddRankingFlags(flags, options);
  AddRankerValueFlags(flags, options);
  AddResultFlags(flags, options);
}

absl::Status Resolve(EvaluateCommandOptions& options) {
  SEMRANK_RETURN_IF_ERROR(RequireFile("docs", options.files.documents));
  SEMRANK_RETURN_IF_ERROR(RequireFile("queries", options.files.queries));
  SEMRANK_RETURN_IF_ERROR(RequireFile("qrels", options.files.qrels));
  SEMRANK_RETURN_IF_ERROR(ResolveRankers(options));
  SEMRANK_RETURN_IF_ERROR(CheckTune(options));
  SEMRANK_RETURN_IF_ERROR(CheckKeepsInputs(options));
  SEMRANK_RETURN_IF_ERROR(
      CheckTakesOneRanker("run_out", options.run_out, options));
  SEMRANK_RETURN_IF_ERROR(
      CheckTakesOneRanker("per_query", options.per_query, options));
  SEMRANK_RETURN_IF_ERROR(CheckFigure(options));
  // A linear gain cannot hide the other gains, however high a grade is.
  if (options.evaluate.gain == Gain::kLinear) {
    options.files.max_grade = kMaxGrade;
  }
  // Ranked documents are kept only if something shows them: the run file, the
  // figure, or the queries that moved most.
  if (!options.svg_out.empty()) options.evaluate.run_depth = 1;
  if (!options.run_out.empty()) options.evaluate.run_depth = options.run_depth;
  // A comparison shows the first documents of the queries that moved most.
  if (!options.baseline.empty() &&
      options.evaluate.run_depth < kTopDocumentsShown) {
    options.evaluate.run_depth = kTopDocumentsShown;
  }
  if (options.num_threads == 0) options.num_threads = NumUsableProcessors();
  return absl::OkStatus();
}

}  // namespace semrank
