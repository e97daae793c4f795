#include "model/eval/evaluate_flags.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/status_macros.h"
#include "model/base/thread_pool.h"
#include "model/cli/program.h"
#include "model/eval/ranker_flags.h"
#include "model/text/ngram_vocabulary.h"

ABSL_FLAG(std::string, docs, "",
          "File of documents, doc_id<TAB>title a line; .gz and .zst too.");
ABSL_FLAG(std::string, queries, "",
          "File of queries, query_id<TAB>query a line; .gz and .zst too.");
ABSL_FLAG(std::string, qrels, "",
          "Judgements in TREC form, query_id 0 doc_id grade a line; grade 1 "
          "and above is relevant; .gz and .zst too.");
ABSL_FLAG(std::string, candidates, "all",
          "What is ranked for a query: all documents, or those judged for it.");
ABSL_FLAG(std::string, gain, "exponential",
          "What a grade counts in NDCG: exponential is 2^grade - 1, linear is "
          "the grade, as in trec_eval.");
ABSL_FLAG(std::string, run_out, "",
          "File for the ranking in TREC run form, written whole at the end; "
          "for one ranker. None when empty.");
ABSL_FLAG(std::uint32_t, run_depth, 1000,
          "Documents of each query in --run_out, at least 1.");
ABSL_FLAG(std::string, output, "table",
          "Form of the results: table, or json (one object a line).");
ABSL_FLAG(int, threads, 0,
          "Threads that rank, 1 to 1024; 0 is one for each processor. The "
          "results do not depend on it.");
ABSL_FLAG(std::int64_t, max_bad_lines, 100,
          "Lines that may be skipped over all files before the run ends.");
ABSL_FLAG(std::string, words, "",
          "vocabulary: file of words, one or more a line; .gz and .zst too.");
ABSL_FLAG(std::vector<std::string>, ngram, std::vector<std::string>({"2", "3"}),
          "vocabulary: letters in an n-gram, 1 to 8; several with commas "
          "between them.");

namespace semrank {
namespace {

constexpr int kMaxThreads = 1024;

absl::Status RequireFile(std::string_view flag, const std::string& value) {
  if (!value.empty()) return absl::OkStatus();
  return FlagError(flag, value, "needed, but not given");
}

// The one of two words that `value` is: false = the first.
absl::StatusOr<bool> IsSecondWord(std::string_view flag,
                                  const std::string& value,
                                  std::string_view first,
                                  std::string_view second) {
  if (value == first) return false;
  if (value == second) return true;
  return FlagError(flag, value,
                   absl::StrFormat("neither %s nor %s", first, second));
}

absl::StatusOr<OutputFormat> OutputFromFlag() {
  SEMRANK_ASSIGN_OR_RETURN(
      const bool json,
      IsSecondWord("output", absl::GetFlag(FLAGS_output), "table", "json"));
  return json ? OutputFormat::kJson : OutputFormat::kTable;
}

absl::StatusOr<std::int64_t> MaxBadLinesFromFlag() {
  const std::int64_t value = absl::GetFlag(FLAGS_max_bad_lines);
  if (value >= 0) return value;
  return FlagError("max_bad_lines", absl::StrFormat("%d", value),
                   "must not be negative");
}

absl::StatusOr<EvaluateOptions> MeasureOptionsFromFlags() {
  EvaluateOptions options;
  SEMRANK_ASSIGN_OR_RETURN(
      const bool judged,
      IsSecondWord("candidates", absl::GetFlag(FLAGS_candidates), "all",
                   "judged"));
  SEMRANK_ASSIGN_OR_RETURN(
      const bool linear,
      IsSecondWord("gain", absl::GetFlag(FLAGS_gain), "exponential", "linear"));
  options.candidates = judged ? Candidates::kJudged : Candidates::kAll;
  options.gain = linear ? Gain::kLinear : Gain::kExponential;
  options.show_progress = true;
  if (!absl::GetFlag(FLAGS_run_out).empty()) {
    options.run_depth = absl::GetFlag(FLAGS_run_depth);
    if (options.run_depth == 0) {
      return FlagError("run_depth", "0", "must be at least 1");
    }
  }
  return options;
}

}  // namespace

absl::StatusOr<EvaluateCommandOptions> EvaluateOptionsFromFlags() {
  EvaluateCommandOptions options;
  options.files = {absl::GetFlag(FLAGS_docs), absl::GetFlag(FLAGS_queries),
                   absl::GetFlag(FLAGS_qrels)};
  options.run_out = absl::GetFlag(FLAGS_run_out);
  SEMRANK_RETURN_IF_ERROR(RequireFile("docs", options.files.documents));
  SEMRANK_RETURN_IF_ERROR(RequireFile("queries", options.files.queries));
  SEMRANK_RETURN_IF_ERROR(RequireFile("qrels", options.files.qrels));
  SEMRANK_ASSIGN_OR_RETURN(options.rankers, RankersFromFlags());
  SEMRANK_ASSIGN_OR_RETURN(options.ranker_options, RankerOptionsFromFlags());
  SEMRANK_ASSIGN_OR_RETURN(options.evaluate, MeasureOptionsFromFlags());
  SEMRANK_ASSIGN_OR_RETURN(options.output, OutputFromFlag());
  SEMRANK_ASSIGN_OR_RETURN(options.max_bad_lines, MaxBadLinesFromFlag());
  options.num_threads = absl::GetFlag(FLAGS_threads);
  SEMRANK_RETURN_IF_ERROR(
      CheckRange("threads", options.num_threads, 0, kMaxThreads));
  if (options.num_threads == 0) options.num_threads = NumUsableProcessors();
  if (!options.run_out.empty() && options.rankers.size() > 1) {
    return FlagError("run_out", options.run_out,
                     "takes one --ranker, not several");
  }
  return options;
}

absl::StatusOr<VocabularyCommandOptions> VocabularyOptionsFromFlags() {
  VocabularyCommandOptions options;
  options.words = absl::GetFlag(FLAGS_words);
  SEMRANK_RETURN_IF_ERROR(RequireFile("words", options.words));
  const std::vector<std::string> lengths = absl::GetFlag(FLAGS_ngram);
  options.ngram_lengths.clear();
  for (const std::string& text : lengths) {
    int length = 0;
    if (!absl::SimpleAtoi(text, &length) || length < kMinNgramLength ||
        length > kMaxNgramLength) {
      return FlagError("ngram", absl::StrJoin(lengths, ","),
                       absl::StrFormat("'%s' is no whole number from %d to %d",
                                       text, kMinNgramLength, kMaxNgramLength));
    }
    options.ngram_lengths.push_back(length);
  }
  SEMRANK_ASSIGN_OR_RETURN(options.output, OutputFromFlag());
  SEMRANK_ASSIGN_OR_RETURN(options.max_bad_lines, MaxBadLinesFromFlag());
  return options;
}

}  // namespace semrank
