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

namespace semrank {

enum class OutputFormat { kTable, kJson };

class CommandLine;

struct EvaluateCommandOptions {
  // Evaluated and printed in this order.
  std::vector<std::string> rankers = {"model"};
  // Ranker that is added to each other one of `rankers`; empty = none.
  std::string hybrid;
  RankerOptions ranker_options;
  CollectionFiles files;
  EvaluateOptions evaluate;
  // TREC run of the only ranker, run_depth documents a query; empty = none.
  std::string run_out;
  std::uint32_t run_depth = 1000;
  OutputFormat output = OutputFormat::kTable;
  int num_threads = 0;  // 0 = one for each processor
  std::int64_t max_bad_lines = 100;
};

void AddEvaluateOptions(CommandLine& command_line,
                        EvaluateCommandOptions& options);

// Adds `hybrid` to `rankers` and replaces 0 by what it stands for, then checks
// names and what is needed: FlagError.
absl::Status Resolve(EvaluateCommandOptions& options);

// `options` are resolved. Prints the results of each ranker to `out` when it is
// done, remarks to standard error.
absl::Status RunEvaluateCommand(const EvaluateCommandOptions& options,
                                std::ostream& out);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_EVALUATE_COMMAND_H_
