// Where the texts of a training run come from and where the model goes.
#ifndef SEMRANK_MODEL_TRAIN_OPTIONS_DATA_OPTIONS_H_
#define SEMRANK_MODEL_TRAIN_OPTIONS_DATA_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace semrank {

class CommandLine;

struct DataOptions {
  // Files of pairs, `query<TAB>title[<TAB>clicks[<TAB>impressions]]`.
  std::vector<std::string> train_files;
  // Judged titles for hard negatives; may be empty.
  std::string judged_file;
  std::string model_dir;
  // Bytes; 0 = half of this machine's memory. Pairs that take more than three
  // quarters of it are streamed from their files, and then it bounds all that
  // the run takes.
  std::int64_t memory_limit = 0;
  // Lines that may be skipped over all files.
  std::int64_t max_bad_lines = 100;

  // Pairs for the validation loss: of these files, or else of this share of
  // the queries of train_files (-1 = kDefaultValidFraction, but 0 with
  // valid_queries).
  std::vector<std::string> valid_pair_files;
  double valid_fraction = -1;
  // For the validation NDCG; all three or none.
  std::string valid_queries;
  std::string valid_docs;
  std::string valid_qrels;
  // A query ranks its judged documents only, not all of valid_docs.
  bool valid_judged_only = false;
  // Scores each half of the validation queries apart, too, for two-fold
  // cross-validation.
  bool valid_halves = false;
};

inline constexpr double kDefaultValidFraction = 0.05;

void AddDataOptions(CommandLine& command_line, DataOptions& options);

// Replaces -1 by what it stands for, then checks; FlagError as ResolveOptions.
absl::Status Resolve(DataOptions& options);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_OPTIONS_DATA_OPTIONS_H_
