// The flags of semrank-eval that say what ranks.
#ifndef SEMRANK_MODEL_EVAL_RANKER_FLAGS_H_
#define SEMRANK_MODEL_EVAL_RANKER_FLAGS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/eval/ranker_factory.h"

namespace semrank {

// FlagError unless `value` is in [lowest, highest].
absl::Status CheckRange(std::string_view flag, double value, double lowest,
                        double highest);

// Valid names, at least one: --ranker with --hybrid added to each other one.
// FlagError also when one of them needs --model_dir and there is none.
absl::StatusOr<std::vector<std::string>> RankersFromFlags();

// Every value is checked against its range.
absl::StatusOr<RankerOptions> RankerOptionsFromFlags();

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_RANKER_FLAGS_H_
