// Ranks of the relevant documents among all scores, without sorting the rest.
//
//   Order    score falling, then position rising.
//   Threads  free functions, from any thread.
#ifndef SEMRANK_MODEL_EVAL_RELEVANT_RANKS_H_
#define SEMRANK_MODEL_EVAL_RELEVANT_RANKS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "model/eval/metrics.h"

namespace semrank {

// A relevant document by its place among the scores.
struct GradedPosition {
  std::uint32_t position = 0;
  int grade = 0;
};

// In order of rank. Positions are distinct and below scores.size(). Cost: one
// pass over the scores for each relevant document.
std::vector<RankedGrade> RankRelevant(std::span<const float> scores,
                                      std::span<const GradedPosition> relevant);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_RELEVANT_RANKS_H_
