#include <cstdint>
#include <string>

#include "absl/flags/flag.h"
#include "absl/strings/str_format.h"
#include "model/cli/program.h"
#include "model/train/options/flag_groups.h"
#include "model/train/options/option_names.h"

namespace {

// Defaults are those of the options struct, which has no other home for them.
semrank::DataOptions Defaults() { return {}; }

}  // namespace

ABSL_FLAG(std::string, train, "",
          "Files of clicked pairs, with commas between them: query TAB title "
          "[TAB clicks [TAB impressions]]; plain, .gz or .zst; - is standard "
          "input. Pairs with 0 clicks are left out; --clicks says what the "
          "counts of the others do.");
ABSL_FLAG(std::string, judged, "",
          "Judged titles, query TAB title TAB grade: those of a lower grade "
          "than the clicked one are the negatives of --negative_sampling=shown "
          "and --hard_negatives.");
ABSL_FLAG(std::string, model_dir, "",
          "Folder to publish the model in, as its next version. Also gets "
          "training.jsonl, the metrics of every epoch.");
ABSL_FLAG(std::int64_t, memory_limit, Defaults().memory_limit,
          "Bytes of memory. Pairs that take more than three quarters of it are "
          "read from their files anew in each epoch, in random blocks through "
          "a shuffle buffer that takes what model and mini-batches leave. 0 = "
          "half of this machine's memory.");
ABSL_FLAG(std::int64_t, max_bad_lines, Defaults().max_bad_lines,
          "Lines that may be skipped, over all files, before the run ends.");
ABSL_FLAG(std::string, valid_pairs, "",
          "Files of pairs, as --train, for the validation loss.");
ABSL_FLAG(double, valid_fraction, Defaults().valid_fraction,
          absl::StrFormat(
              "Share of the queries of --train, 0 to 0.5, whose pairs are held "
              "out for the validation loss. -1 = %g, but 0 with --valid_pairs "
              "or --valid_queries.",
              semrank::kDefaultValidFraction));
ABSL_FLAG(std::string, valid_queries, "",
          "Judged queries, query_id TAB query, whose NDCG is measured after "
          "each epoch; wants --valid_docs and --valid_qrels too.");
ABSL_FLAG(std::string, valid_docs, "",
          "Documents, doc_id TAB title, that --valid_queries rank.");
ABSL_FLAG(std::string, valid_qrels, "",
          "Judgements of --valid_queries, as TREC qrels.");
ABSL_FLAG(std::string, valid_candidates, "all",
          "What a query of --valid_queries ranks: all documents, or its "
          "judged ones.");
ABSL_FLAG(
    bool, valid_halves, Defaults().valid_halves,
    "Scores each half of the validation queries apart, too (\"halves\" in "
    "training.jsonl), for two-fold cross-validation by scripts/tune.py.");

namespace semrank {

absl::Status ReadFlags(DataOptions& options) {
  options.train_files = SplitFiles(absl::GetFlag(FLAGS_train));
  options.judged_file = absl::GetFlag(FLAGS_judged);
  options.model_dir = absl::GetFlag(FLAGS_model_dir);
  options.memory_limit = absl::GetFlag(FLAGS_memory_limit);
  options.max_bad_lines = absl::GetFlag(FLAGS_max_bad_lines);
  options.valid_pair_files = SplitFiles(absl::GetFlag(FLAGS_valid_pairs));
  options.valid_fraction = absl::GetFlag(FLAGS_valid_fraction);
  options.valid_queries = absl::GetFlag(FLAGS_valid_queries);
  options.valid_docs = absl::GetFlag(FLAGS_valid_docs);
  options.valid_qrels = absl::GetFlag(FLAGS_valid_qrels);
  const std::string candidates = absl::GetFlag(FLAGS_valid_candidates);
  if (candidates != "all" && candidates != "judged") {
    return FlagError("valid_candidates", candidates,
                     "must be one of all, judged");
  }
  options.valid_judged_only = candidates == "judged";
  options.valid_halves = absl::GetFlag(FLAGS_valid_halves);
  return absl::OkStatus();
}

}  // namespace semrank
