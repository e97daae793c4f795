// semrank-eval: ranks a judged collection and measures the rankings.
#include <iostream>

#include "model/base/interrupt.h"
#include "model/cli/command_line.h"
#include "model/cli/standard_streams.h"
#include "model/eval/evaluate_command.h"
#include "model/eval/inspect_command.h"
#include "model/eval/vocabulary_command.h"

namespace semrank {
namespace {

constexpr ProgramInfo kInfo = {
    .name = "semrank-eval",
    .summary = "ranks a judged collection and measures the rankings",
    .usage = R"(Usage:
  semrank-eval [--ranker=...] --docs=FILE --queries=FILE --qrels=FILE [flags]
  semrank-eval vocabulary --words=FILE [--ngram=2,3]
  semrank-eval inspect --model_dir=FOLDER --words=FILE

Prints NDCG@1, @3 and @10, MAP, MRR and P@10, means over the queries, with
standard errors below them. For documents of equal score each is the mean over
all of their orders. Queries without a document of grade 1 or more are left out.

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
  semrank-eval inspect --model_dir=FOLDER --words=FILE
  semrank-eval inspect --model_dir=FOLDER --query=TEXT --title=TEXT
  semrank-eval inspect --model_dir=FOLDER --words=FILE --context_word=WORD
  semrank-eval inspect --words=FILE --correlated=WORD,WORD

Prints the words that excite each unit of the output layer most (table 7 of the
DSSM paper). For a CLSM: the units of the max-pooling layer that are most active
in both texts, and the words that won them (figure 4 of the CLSM paper); or how
much alike the contexts of a word are to it (table 2). Without a model: the
words that occur in the same texts most (DICE, SSI 2.2.1).
)"};

// `status`, or an error when what was printed has not arrived.
absl::Status WithOutput(const absl::Status& status) {
  // A full disk shows only when the buffer is written.
  if (!status.ok() || std::cout.flush()) return status;
  return absl::DataLossError("standard output cannot be written");
}

int Main(int argc, char** argv) {
  ReserveStandardStreams();
  IgnoreBrokenPipes();
  EvaluateCommandOptions evaluate;
  evaluate.evaluate.show_progress = true;
  VocabularyCommandOptions vocabulary;
  CommandLine command_line(kInfo);
  AddEvaluateOptions(command_line, evaluate);
  AddVocabularyOptions(command_line.AddCommand(kVocabularyInfo), vocabulary);
  InspectCommandOptions inspect;
  AddInspectOptions(command_line.AddCommand(kInspectInfo), inspect);
  if (const auto exit_code = command_line.Parse(argc, argv)) return *exit_code;
  CatchInterrupts();
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
  if (status.ok()) status = RunEvaluateCommand(evaluate, std::cout);
  return command_line.ExitCode(WithOutput(status));
}

}  // namespace
}  // namespace semrank

int main(int argc, char** argv) { return semrank::Main(argc, argv); }
