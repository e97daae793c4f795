// The command line of semrank-eval as options of its commands.
#ifndef SEMRANK_MODEL_EVAL_EVALUATE_FLAGS_H_
#define SEMRANK_MODEL_EVAL_EVALUATE_FLAGS_H_

#include "absl/status/statusor.h"
#include "model/eval/evaluate_command.h"
#include "model/eval/vocabulary_command.h"

namespace semrank {

// Every value is checked against its range: FlagError names flag and limit.
absl::StatusOr<EvaluateCommandOptions> EvaluateOptionsFromFlags();
absl::StatusOr<VocabularyCommandOptions> VocabularyOptionsFromFlags();

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_EVALUATE_FLAGS_H_
