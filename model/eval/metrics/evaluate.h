// Ranks the documents of every judged query and measures the result.
//
//   Ranking  score falling, then order in the documents file.
//   Queries  those without a document of positive grade are excluded: every
//            ranking of them would score the same.
//   Results  independent of the number of threads.
#ifndef SEMRANK_MODEL_EVAL_METRICS_EVALUATE_H_
#define SEMRANK_MODEL_EVAL_METRICS_EVALUATE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/base/thread_pool.h"
#include "model/eval/collection/collection.h"
#include "model/eval/metrics/metrics.h"
#include "model/eval/rankers/ranker.h"
#include "model/nn/cosine_scorer.h"

namespace semrank {

enum class Candidates {
  kJudged,  // a query's judged documents, as in the papers' tables
  kAll,     // the whole collection
};

struct EvaluateOptions {
  Candidates candidates = Candidates::kAll;
  Gain gain = Gain::kExponential;
  // Ranked documents to keep per query; 0 = none. Does not change the measures.
  std::uint32_t run_depth = 0;
  // Shows a progress bar on standard error.
  bool show_progress = false;
};

struct QueryEvaluation {
  std::uint32_t query = 0;  // index in Collection::queries
  MetricValues metrics{};
  RankingTuples tuples{};
  std::vector<RankedDocument> run;  // run_depth best, in order
};

struct Evaluation {
  std::string ranker;
  std::vector<QueryEvaluation> queries;  // in order of the queries file
  MetricSummary summary;

  // Over the tuples of all queries; nullopt when there are none.
  std::optional<double> ranking_loss() const;
};

// `ranker` must have been made for the collection's documents. Cancelled after
// Ctrl-C (see interrupt.h).
absl::StatusOr<Evaluation> EvaluateRanker(const Ranker& ranker,
                                          const Collection& collection,
                                          const EvaluateOptions& options,
                                          ThreadPool& pool);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_METRICS_EVALUATE_H_
