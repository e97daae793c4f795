// Chooses parameters of a ranker by two-fold cross-validation, as the papers do
// (DSSM 4.1, CLSM 5.1): each half of the queries is measured with the values
// whose NDCG@10 is best on the other half. So the result shows the effect of
// tuning on queries that had no part in it.
#ifndef SEMRANK_MODEL_EVAL_TUNING_H_
#define SEMRANK_MODEL_EVAL_TUNING_H_

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/eval/metrics/evaluate.h"
#include "model/eval/rankers/ranker_factory.h"

namespace semrank {

// Flags of semrank-eval that can be tuned; each has a fixed list of values.
std::vector<std::string> TunableFlags();

struct TuningResult {
  // Cross-validated.
  Evaluation evaluation;
  // "bm25_k1=0.9 bm25_b=0.4": the best on each half, and on all queries.
  std::array<std::string, 2> best_on_half;
  std::string best;
};

using EvaluateWith =
    std::function<absl::StatusOr<Evaluation>(const RankerOptions&)>;

// Whether `flag` changes the ranker of this name.
bool IsTunable(std::string_view ranker, std::string_view flag);

// Calls `evaluate` with `options` but for every combination of the values of
// `flags`, which are distinct ones of TunableFlags(), at least one. Fails as
// `evaluate` does.
absl::StatusOr<TuningResult> Tune(const std::vector<std::string>& flags,
                                  const RankerOptions& options,
                                  const Collection& collection,
                                  const EvaluateWith& evaluate);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_TUNING_H_
