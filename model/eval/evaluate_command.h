// `semrank-eval`: reads a judged collection, evaluates rankers on it, prints
// their measures and writes their rankings.
#ifndef SEMRANK_MODEL_EVAL_EVALUATE_COMMAND_H_
#define SEMRANK_MODEL_EVAL_EVALUATE_COMMAND_H_

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "model/eval/collection/collection.h"
#include "model/eval/metrics/evaluate.h"
#include "model/eval/rankers/ranker_factory.h"
#include "model/eval/tuning.h"

namespace semrank {

enum class OutputFormat { kTable, kJson };

class CommandLine;

struct EvaluateCommandOptions {
  // Evaluated and printed in this order: a name for CreateRanker, or run:FILE.
  std::vector<std::string> rankers = {"model"};
  // With which each of `rankers` is compared; empty = none.
  std::string baseline;
  // Of kTunableFlags: chosen by cross-validation for each ranker that they
  // change.
  std::vector<std::string> tune;
  // Ranker that is added to each other one of `rankers`; empty = none.
  std::string hybrid;
  RankerOptions ranker_options;
  CollectionFiles files;
  EvaluateOptions evaluate;
  // TREC run of the only ranker, run_depth documents a query; empty = none.
  std::string run_out;
  std::uint32_t run_depth = 1000;
  // Metrics of each query, of the only ranker; empty = none.
  std::string per_query;
  // Named parts of the queries that are measured by themselves; empty = none.
  std::string slices;
  OutputFormat output = OutputFormat::kTable;
  int num_threads = 0;  // 0 = one for each processor
  std::int64_t max_bad_lines = 100;
};

void AddEvaluateOptions(CommandLine& command_line,
                        EvaluateCommandOptions& options);

// Adds `hybrid` to `rankers` and replaces 0 by what it stands for, then checks
// names and what is needed: FlagError.
absl::Status Resolve(EvaluateCommandOptions& options);

// `options` are resolved. Prints a ranker's row of the table to `out` when it
// is done, comparisons, slices and JSON at the end, remarks to standard error.
absl::Status RunEvaluateCommand(const EvaluateCommandOptions& options,
                                std::ostream& out);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_EVALUATE_COMMAND_H_
