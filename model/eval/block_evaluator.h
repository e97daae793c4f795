// Ranks and measures a few queries at a time: what one thread of the evaluator
// does.
//
//   Threads  one object, one thread at a time; it keeps scratch memory.
#ifndef SEMRANK_MODEL_EVAL_BLOCK_EVALUATOR_H_
#define SEMRANK_MODEL_EVAL_BLOCK_EVALUATOR_H_

#include <cstdint>
#include <span>
#include <vector>

#include "model/eval/collection.h"
#include "model/eval/evaluate.h"
#include "model/eval/ranker.h"
#include "model/eval/relevant_ranks.h"

namespace semrank {

class BlockEvaluator {
 public:
  // All three outlive the object.
  BlockEvaluator(const Ranker& ranker, const Collection& collection,
                 const EvaluateOptions& options)
      : ranker_(&ranker), collection_(&collection), options_(&options) {}

  // Fills in metrics and run of the queries that `block` names. Memory: 4 bytes
  // x block.size() x documents when all are candidates.
  void Run(std::span<QueryEvaluation> block);

 private:
  const JudgedQuery& QueryOf(const QueryEvaluation& evaluation) const {
    return collection_->queries[evaluation.query];
  }
  void RankJudged(QueryEvaluation& evaluation);
  void RankAll(std::span<QueryEvaluation> block);
  // Of one query: `scores` by position, relevant_ filled in.
  void Measure(std::span<const float> scores, QueryEvaluation& evaluation);

  const Ranker* ranker_;
  const Collection* collection_;
  const EvaluateOptions* options_;
  std::vector<std::uint32_t> documents_;
  std::vector<GradedPosition> relevant_;
  std::vector<float> scores_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_BLOCK_EVALUATOR_H_
