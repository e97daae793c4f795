// `semrank-eval`: reads a judged collection, evaluates rankers on it, prints
// their measures and writes their rankings.
#ifndef SEMRANK_MODEL_EVAL_EVALUATE_COMMAND_H_
#define SEMRANK_MODEL_EVAL_EVALUATE_COMMAND_H_

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "model/eval/collection.h"
#include "model/eval/evaluate.h"
#include "model/eval/ranker_factory.h"

namespace semrank {

enum class OutputFormat { kTable, kJson };

struct EvaluateCommandOptions {
  // Valid names; evaluated and printed in this order.
  std::vector<std::string> rankers;
  RankerOptions ranker_options;
  CollectionFiles files;
  EvaluateOptions evaluate;
  // TREC run of the only ranker, evaluate.run_depth documents a query; empty =
  // none.
  std::string run_out;
  OutputFormat output = OutputFormat::kTable;
  int num_threads = 1;
  std::int64_t max_bad_lines = 0;
};

// Prints the results of each ranker to `out` when it is done, remarks to
// standard error.
absl::Status RunEvaluateCommand(const EvaluateCommandOptions& options,
                                std::ostream& out);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_EVALUATE_COMMAND_H_
