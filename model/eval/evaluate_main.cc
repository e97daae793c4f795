#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/status_macros.h"
#include "model/cli/interrupt.h"
#include "model/cli/program.h"
#include "model/eval/evaluate_command.h"
#include "model/eval/evaluate_flags.h"
#include "model/eval/vocabulary_command.h"

namespace semrank {
namespace {

constexpr ProgramInfo kInfo = {
    .name = "semrank-eval",
    .summary = "ranks a judged collection and measures the rankings",
    .usage = R"(Usage:
  semrank-eval [--ranker=...] --docs=FILE --queries=FILE --qrels=FILE [flags]
  semrank-eval vocabulary --words=FILE [--ngram=2,3]

Prints NDCG@1, @3 and @10, MAP, MRR and P@10, means over the queries, with
standard errors below them. Documents of equal score keep the order of the
documents file. Queries without a document of grade 1 or more are left out.

A model beside two baselines, each query ranking the whole collection:
  semrank-eval --ranker=bm25,letter_tfidf,model --model_dir=models/shop \
      --docs=docs.tsv --queries=queries.tsv --qrels=qrels.txt

Re-ranking only what was judged, as JSON, with the ranking for other tools:
  semrank-eval --model_dir=models/shop --candidates=judged --output=json \
      --docs=docs.tsv --queries=queries.tsv --qrels=qrels.txt --run_out=shop.run

Model and BM25 added up:
  semrank-eval --model_dir=models/shop --hybrid=bm25 --hybrid_weight=0.3 \
      --docs=docs.tsv --queries=queries.tsv --qrels=qrels.txt

How many letter n-grams a word list has, and how many of its words become the
same n-gram counts as another word (table 1 of the DSSM paper):
  semrank-eval vocabulary --words=/usr/share/dict/words
)",
    .flag_source = "model/eval/"};

absl::Status Run(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    SEMRANK_ASSIGN_OR_RETURN(const EvaluateCommandOptions options,
                             EvaluateOptionsFromFlags());
    return RunEvaluateCommand(options, std::cout);
  }
  if (arguments != std::vector<std::string>{"vocabulary"}) {
    return UsageError(
        absl::StrFormat("'%s' is no command; there is vocabulary (see --help)",
                        absl::StrJoin(arguments, " ")));
  }
  SEMRANK_ASSIGN_OR_RETURN(const VocabularyCommandOptions options,
                           VocabularyOptionsFromFlags());
  return RunVocabularyCommand(options, std::cout);
}

}  // namespace
}  // namespace semrank

int main(int argc, char** argv) {
  using namespace semrank;  // NOLINT: one function of a program.
  const std::vector<std::string> arguments =
      ParseCommandLine(kInfo, argc, argv);
  CatchInterrupts();
  return ExitCode(kInfo, Run(arguments));
}
