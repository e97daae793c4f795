// `semrank-eval`: reads a judged collection, evaluates rankers on it, prints
// their measures and writes their rankings.
#ifndef SEMRANK_MODEL_EVAL_EVALUATE_COMMAND_H_
#define SEMRANK_MODEL_EVAL_EVALUATE_COMMAND_H_

#include <iosfwd>

#include "absl/status/status.h"
#include "model/eval/evaluate_options.h"

namespace semrank {

// `options` have passed Resolve. Prints a ranker's rows of the table to `out`
// when they are known, comparisons, slices and JSON at the end, and remarks to
// standard error.
absl::Status RunEvaluateCommand(const EvaluateCommandOptions& options,
                                std::ostream& out);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_EVALUATE_COMMAND_H_
