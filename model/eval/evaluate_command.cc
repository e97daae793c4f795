#include "model/eval/evaluate_command.h"

#include <algorithm>
#include <memory>
#include <ostream>

#include "absl/strings/str_format.h"
#include "model/base/bad_lines.h"
#include "model/base/file_io.h"
#include "model/base/status_macros.h"
#include "model/base/thread_pool.h"
#include "model/eval/evaluation_output.h"

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

}  // namespace

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
