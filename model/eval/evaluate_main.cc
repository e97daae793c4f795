// semrank-eval: ranks a judged collection and measures the rankings.
//
// One run reads the collection, then creates, evaluates and drops one ranker
// after the other. The table gets a row as soon as a ranker is measured;
// comparisons and JSON need all evaluations and are printed at the end.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/base/file_io.h"
#include "model/base/interrupt.h"
#include "model/base/status_macros.h"
#include "model/base/thread_pool.h"
#include "model/cli/command_line.h"
#include "model/cli/standard_streams.h"
#include "model/data/collection.h"
#include "model/data/input_lines.h"
#include "model/data/trec_run.h"
#include "model/eval/evaluate_options.h"
#include "model/eval/evaluation_output.h"
#include "model/eval/inspect_command.h"
#include "model/eval/tuning.h"
#include "model/eval/vocabulary_command.h"
#include "model/text/text_limit.h"

namespace semrank {
namespace {

constexpr ProgramInfo kInfo = {
    .name = "semrank-eval",
    .summary = "ranks a judged collection and measures the rankings",
    .usage = R"(Usage:
  semrank-eval [--ranker=...] --docs=FILE --queries=FILE --qrels=FILE [flags]
  semrank-eval vocabulary --words=FILE [--ngram=2,3]
  semrank-eval inspect --model_dir=DIR --words=FILE

Prints NDCG@1, @3 and @10, MAP, MRR and P@10, means over the queries, with
standard errors below them. For documents of equal score each is the mean over
all of their orders. Queries without a document of grade 1 or more are excluded.

A model beside two baselines, each query ranking the whole collection:
  semrank-eval --ranker=bm25,letter_tfidf,model --model_dir=models/shop \
      --docs=docs.tsv --queries=queries.tsv --qrels=qrels.txt

Re-ranking only what was judged, as JSON, with the ranking for other tools:
  semrank-eval --model_dir=models/shop --candidates=judged --output=json \
      --docs=docs.tsv --queries=queries.tsv --qrels=qrels.txt --run_out=shop.run

Is a new model better than the old one, and than BM25? Differences, p values and
the queries that moved most:
  semrank-eval --ranker=model,bm25 --model_dir=models/new \
      --baseline=model:models/old \
      --docs=docs.tsv --queries=queries.tsv --qrels=qrels.txt

Model and BM25 added up, with a weight that cross-validation chooses:
  semrank-eval --model_dir=models/shop --hybrid=bm25 --tune=hybrid_weight \
      --docs=docs.tsv --queries=queries.tsv --qrels=qrels.txt

How many letter n-grams a word list has, and how many of its words become the
same n-gram counts as another word (table 1 of the DSSM paper):
  semrank-eval vocabulary --words=/usr/share/dict/words

The words that excite each unit of a model most (table 7 of the DSSM paper):
  semrank-eval inspect --model_dir=models/shop --words=titles.txt
)"};

constexpr ProgramInfo kVocabularyInfo = {
    .name = "vocabulary",
    .summary = "counts the letter n-grams of a word list",
    .usage = R"(Usage:
  semrank-eval vocabulary --words=FILE [--ngram=2,3]

Prints how many letter n-grams a word list has, and how many of its words become
the same n-gram counts as another word (table 1 of the DSSM paper).
)"};

constexpr ProgramInfo kInspectInfo = {
    .name = "inspect",
    .summary = "shows what the units of a model stand for",
    .usage = R"(Usage:
  semrank-eval inspect --model_dir=DIR --words=FILE
  semrank-eval inspect --model_dir=DIR --query=TEXT --title=TEXT
  semrank-eval inspect --model_dir=DIR --words=FILE --context_word=WORD
  semrank-eval inspect --words=FILE --correlated=WORD,WORD

Prints the words that excite each unit of the output layer most (table 7 of the
DSSM paper). For a CLSM: the units of the max-pooling layer that are most active
in both texts, and the words that won them (figure 4 of the CLSM paper); or how
similar the contexts of a word are (table 2). Without a model: the words that
occur in the same texts most (DICE, SSI 2.2.1).
)"};

// Standard output holds results alone, which scripts parse.
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
  if (collection.num_long_texts > 0) {
    Remark(absl::StrFormat(
        "documents and queries over %d bytes: %d; they are measured, but a "
        "server ranks them only with a larger --max_text_bytes",
        kDefaultMaxTextBytes, collection.num_long_texts));
  }
  const auto num_excluded =
      std::ranges::count(collection.queries, false, &JudgedQuery::HasRelevant);
  if (num_excluded > 0) {
    Remark(absl::StrFormat(
        "queries excluded, as no document has grade 1 or more: %d",
        num_excluded));
  }
  // Qrels without grade 0 (clicks, for example) leave nothing to rank below.
  const bool only_relevant =
      std::ranges::all_of(collection.queries, [](const JudgedQuery& query) {
        return std::ranges::all_of(
            query.judgements, [](const Judgement& j) { return j.grade >= 1; });
      });
  if (only_relevant && options.evaluate.candidates == Candidates::kJudged) {
    Remark(
        "every judged document is relevant, so most orders of them are "
        "perfect; --candidates=all ranks the whole collection");
  }
}

// Evaluates rankers one after another and keeps what several of them share: the
// threads and the learned translations.
class RankerEvaluator {
 public:
  RankerEvaluator(const EvaluateCommandOptions& options,
                  const Collection& collection, int normalizer_version,
                  BadLines& bad_lines)
      : options_(options),
        ranker_options_(options.ranker_options),
        collection_(collection),
        normalizer_version_(normalizer_version),
        bad_lines_(bad_lines),
        pool_(options.num_threads) {}

  // Appends to evaluations and tuned.
  absl::Status Evaluate(const std::string& name, Results& results) {
    // A flag of --tune may belong to one of several rankers.
    std::vector<std::string> flags;
    for (const std::string& flag : options_.tune) {
      if (IsTunable(name, flag)) flags.push_back(flag);
    }
    // One entry for each ranker, empty if it is not tuned: `tuned` is parallel
    // to `evaluations`.
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
    SEMRANK_ASSIGN_OR_RETURN(
        ranker_options_.translation_model,
        LearnTranslations(options_.train, bad_lines_, normalizer_version_));
    return absl::OkStatus();
  }

  absl::StatusOr<TrecRun> ReadRun(const std::string& file) {
    // bad_lines_ counts over all files, and the remark is about this one.
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
              : "--candidates=judged omits them"));
    }
    return run;
  }

  absl::StatusOr<Evaluation> EvaluateWith(const std::string& name,
                                          const RankerOptions& ranker_options) {
    if (const auto file = RunFile(name)) {
      SEMRANK_ASSIGN_OR_RETURN(const TrecRun run, ReadRun(std::string(*file)));
      // The scores are those of the file: there is nothing to compute
      // in threads.
      return EvaluateRun(run, collection_, options_.evaluate);
    }
    SEMRANK_ASSIGN_OR_RETURN(
        const auto ranker,
        CreateRanker(name, ranker_options, collection_, pool_));
    return EvaluateRanker(*ranker, collection_, options_.evaluate, pool_);
  }

  const EvaluateCommandOptions& options_;
  // A copy: LearnIfNeeded adds the translations.
  RankerOptions ranker_options_;
  const Collection& collection_;
  int normalizer_version_;
  BadLines& bad_lines_;
  ThreadPool pool_;
};

absl::Status WriteFiles(const Results& results) {
  const EvaluateCommandOptions& options = results.options;
  if (!options.svg_out.empty()) {
    SEMRANK_RETURN_IF_ERROR(
        ReplaceFile(options.svg_out, TopGradeFigure(results)));
  }
  // Resolve refuses run_out and per_query for several rankers.
  const Evaluation& only = results.evaluations.front();
  if (!options.run_out.empty()) {
    SEMRANK_RETURN_IF_ERROR(
        ReplaceFile(options.run_out, FormatTrecRun(only, results.collection)));
  }
  if (options.per_query.empty()) return absl::OkStatus();
  return ReplaceFile(options.per_query, FormatPerQuery(only, results.baseline(),
                                                       results.collection));
}

absl::Status RunEvaluateCommand(const EvaluateCommandOptions& options) {
  std::ostream& out = std::cout;
  BadLines bad_lines(options.max_bad_lines);
  std::vector<std::string> names = options.rankers;
  // The baseline is a ranker like the others. Results::baseline expects
  // it last.
  if (!options.baseline.empty()) names.push_back(options.baseline);
  // The collection is normalised once for all rankers, so models of different
  // versions cannot be evaluated in one run.
  SEMRANK_ASSIGN_OR_RETURN(const int normalizer_version,
                           NormalizerVersionOf(names, options.ranker_options));
  SEMRANK_ASSIGN_OR_RETURN(
      const Collection collection,
      ReadCollection(options.files, bad_lines, normalizer_version));
  Results results{options, collection};
  if (!options.slices.empty()) {
    SEMRANK_ASSIGN_OR_RETURN(results.slices,
                             ReadSlices(options.slices, collection, bad_lines));
  }
  RemarkOnCollection(collection, options, bad_lines.count());
  const ResultTable table(names);
  const bool json = options.output == OutputFormat::kJson;
  if (!json) {
    out << FormatCollection(collection, options.evaluate) << "\n"
        << table.Head() << std::flush;
  }
  // Evaluates one ranker at a time: the index or the vectors of each may fill
  // the memory.
  RankerEvaluator evaluator(options, collection, normalizer_version, bad_lines);
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

// `status`, or an error when what was printed has not arrived.
absl::Status WithOutput(const absl::Status& status) {
  // A full disk shows only when the buffer is written.
  if (!status.ok() || std::cout.flush()) return status;
  return absl::DataLossError("standard output cannot be written");
}

int Main(int argc, char** argv) {
  ReserveStandardStreams();
  // A reader that closes the pipe early, such as head, must not end the program
  // before its files are written. WithOutput reports the failed write.
  IgnoreBrokenPipes();
  EvaluateCommandOptions evaluate;
  // Off by default, for tests and for the trainer, which evaluates in the
  // middle of an epoch.
  evaluate.evaluate.show_progress = true;
  VocabularyCommandOptions vocabulary;
  CommandLine command_line(kInfo);
  AddEvaluateOptions(command_line, evaluate);
  AddVocabularyOptions(command_line.AddCommand(kVocabularyInfo), vocabulary);
  InspectCommandOptions inspect;
  AddInspectOptions(command_line.AddCommand(kInspectInfo), inspect);
  if (const auto exit_code = command_line.Parse(argc, argv)) return *exit_code;
  CatchInterrupts();
  // Flags of the program may stand before the command, so the commands take the
  // values of those that they share with it.
  if (command_line.command() == kVocabularyInfo.name) {
    vocabulary.output = evaluate.output;
    vocabulary.max_bad_lines = evaluate.max_bad_lines;
    return command_line.ExitCode(
        WithOutput(RunVocabularyCommand(vocabulary, std::cout)));
  }
  if (command_line.command() == kInspectInfo.name) {
    inspect.model_dir = evaluate.ranker_options.model_dir;
    inspect.model_version = evaluate.ranker_options.model_version;
    inspect.output = evaluate.output;
    inspect.svg_out = evaluate.svg_out;
    inspect.max_bad_lines = evaluate.max_bad_lines;
    return command_line.ExitCode(
        WithOutput(RunInspectCommand(inspect, std::cout)));
  }
  absl::Status status = Resolve(evaluate);
  if (status.ok()) status = RunEvaluateCommand(evaluate);
  return command_line.ExitCode(WithOutput(status));
}

}  // namespace
}  // namespace semrank

int main(int argc, char** argv) { return semrank::Main(argc, argv); }
