#include "model/train/options/data_options.h"

#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/cli/command_line.h"
#include "model/cli/exit_code.h"

namespace semrank {
namespace {

absl::Status CheckValidation(const DataOptions& data) {
  const bool any = !data.valid_queries.empty() || !data.valid_docs.empty() ||
                   !data.valid_qrels.empty();
  for (const auto& [flag, file] :
       {std::pair<std::string_view, const std::string&>{"valid_queries",
                                                        data.valid_queries},
        {"valid_docs", data.valid_docs},
        {"valid_qrels", data.valid_qrels}}) {
    if (any && file.empty()) {
      return FlagError(flag, "",
                       "--valid_queries, --valid_docs and --valid_qrels "
                       "belong together; one is missing");
    }
  }
  // Written so that NaN fails too. More than a half would validate on more than
  // is learned from.
  if (!(data.valid_fraction >= 0 && data.valid_fraction <= 0.5)) {
    return FlagError("valid_fraction", data.valid_fraction,
                     "must be 0 to 0.5, or -1");
  }
  // Both give the validation loss, of which there is one.
  if (!data.valid_pair_files.empty() && data.valid_fraction > 0) {
    return FlagError("valid_fraction", data.valid_fraction,
                     "--valid_pairs are given, so none are held out");
  }
  return absl::OkStatus();
}

}  // namespace

void AddDataOptions(CommandLine& command_line, DataOptions& options) {
  command_line.Group("Data");
  command_line.Add("train", &options.train_files,
                   "Files of clicked pairs: query TAB title [TAB clicks [TAB "
                   "impressions]]; plain, .gz or .zst; - is standard input. "
                   "Pairs with 0 clicks are ignored; --clicks says what the "
                   "counts of the others do.");
  command_line.Add("model_dir", &options.model_dir,
                   "Folder to publish the model in, as its next version. Also "
                   "gets training.jsonl, the metrics of every epoch, and "
                   "report.html.");
  command_line.Add(
      "valid_fraction", &options.valid_fraction,
      absl::StrFormat("Share of the queries of --train, 0 to 0.5, whose pairs "
                      "are held out for the validation loss. -1 = %g, but 0 "
                      "with --valid_pairs or --valid_queries.",
                      kDefaultValidFraction));
  command_line.Add("valid_queries", &options.valid_queries,
                   "Judged queries, query_id TAB query, whose NDCG is measured "
                   "after each epoch; needs --valid_docs and --valid_qrels.");
  command_line.Add("valid_docs", &options.valid_docs,
                   "Documents, doc_id TAB title, that --valid_queries rank.");
  command_line.Add("valid_qrels", &options.valid_qrels,
                   "Judgements of --valid_queries, as TREC qrels.");
  command_line.Group("Data", CommandLine::Level::kAdvanced);
  command_line.Add("valid_pairs", &options.valid_pair_files,
                   "Files of pairs, as --train, for the validation loss.");
  command_line.Add("valid_candidates", &options.valid_judged_only,
                   "Documents that a query of --valid_queries ranks: all, or "
                   "those judged for it.",
                   {{"all", false}, {"judged", true}});
  command_line.Add("valid_halves", &options.valid_halves,
                   "Scores each half of the validation queries apart, too "
                   "(\"halves\" in training.jsonl), for two-fold "
                   "cross-validation by scripts/experiments/tune.py.");
  command_line.Add("judged", &options.judged_file,
                   "Judged titles, query TAB title TAB grade. Those of a lower "
                   "grade than the clicked one are the negatives of "
                   "--negative_sampling=shown and --hard_negatives.");
  command_line.Add("max_bad_lines", &options.max_bad_lines,
                   "Bad lines over all files that are skipped; one more ends "
                   "the run.",
                   {.min = 0, .max = std::int64_t{1} << 40});
  command_line.Add("memory_limit", &options.memory_limit,
                   "Bytes of memory. Pairs that take more than three quarters "
                   "of it are read from their files again in each epoch, in "
                   "random blocks through a shuffle buffer that takes what "
                   "model and mini-batches leave. 0 = half of this machine's "
                   "memory.",
                   {.min = 0, .max = std::int64_t{1} << 50});
}

absl::Status Resolve(DataOptions& data) {
  if (data.train_files.empty()) {
    return FlagError("train", "", "names no file of pairs");
  }
  if (data.model_dir.empty()) {
    return FlagError("model_dir", "", "names no folder for the model");
  }
  if (data.valid_fraction == -1) {
    // Nothing needs to be held out where other data is there to validate on:
    // all pairs are trained on.
    const bool other =
        !data.valid_pair_files.empty() || !data.valid_queries.empty();
    data.valid_fraction = other ? 0 : kDefaultValidFraction;
  }
  return CheckValidation(data);
}

}  // namespace semrank
