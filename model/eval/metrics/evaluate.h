// Ranks the documents of every judged query and measures the result.
//
//   Ranking  by descending score, then by descending id, as trec_eval does it.
//   Ties     by default each metric is the mean over all orders of the
//            documents of equal score, which says nothing of the ranker.
//   Queries  a query without a document of positive grade is excluded: every
//            ranking of it would score the same.
//   Results  independent of the number of threads.
#ifndef SEMRANK_MODEL_EVAL_METRICS_EVALUATE_H_
#define SEMRANK_MODEL_EVAL_METRICS_EVALUATE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/base/thread_pool.h"
#include "model/data/collection.h"
#include "model/data/trec_run.h"
#include "model/eval/metrics/metrics.h"
#include "model/eval/rankers/ranker.h"
#include "model/nn/cosine_scorer.h"

namespace semrank {

enum class Candidates {
  kJudged,  // a query's judged documents, as in the papers' tables
  kAll,     // the whole collection
};

enum class Ties {
  kExpected,  // mean over all orders of documents of equal score
  kTrec,      // the higher id ranks first
};

struct EvaluateOptions {
  Candidates candidates = Candidates::kAll;
  Gain gain = Gain::kExponential;
  Ties ties = Ties::kExpected;
  // Ranked documents to keep per query; 0 = none. Does not change the measures.
  std::uint32_t run_depth = 0;
  // Shows a progress bar on standard error.
  bool show_progress = false;
  // False for what publication depends on: Ctrl-C ends training, and the epochs
  // that were finished are judged after it. A second Ctrl-C ends the process.
  bool stops_when_interrupted = true;
};

struct QueryEvaluation {
  std::uint32_t query = 0;  // index in Collection::queries
  MetricValues metrics{};
  RankingTuples tuples{};
  bool has_ties = false;            // whose order could change a metric
  std::vector<RankedDocument> run;  // run_depth best, in order
};

struct Evaluation {
  std::string ranker;
  std::vector<QueryEvaluation> queries;  // in order of the queries file
  MetricSummary summary;
  // As TrecRun's: documents of a run that the collection lacks.
  std::vector<std::string> unknown_ids = {};

  // The id of a document of QueryEvaluation::run.
  const std::string& IdOf(std::uint32_t document,
                          const Collection& collection) const;

  // Over the tuples of all queries together; nullopt when there are none.
  std::optional<double> ranking_loss() const;
  // As SSI defines it: the mean over the queries that have tuples.
  std::optional<MeanAndError> mean_ranking_loss() const;
  // The share of queries with ties that could change a metric.
  double tied_share() const;
  // The evaluation of some of the queries, given by ascending indices into
  // the collection's.
  Evaluation OfQueries(std::span<const std::uint32_t> wanted) const;
};

// Computes the summary from the queries.
void Summarize(Evaluation& evaluation);

// `ranker` must have been made for the collection's documents. Returns
// Cancelled after Ctrl-C (see interrupt.h), if the options say so.
absl::StatusOr<Evaluation> EvaluateRanker(const Ranker& ranker,
                                          const Collection& collection,
                                          const EvaluateOptions& options,
                                          ThreadPool& pool);

// Measures an existing ranking. Documents that it does not list are not found.
// Documents that the collection lacks keep their ranks, as in trec_eval, and
// are relevant only if the qrels say so; Candidates::kJudged leaves them out.
Evaluation EvaluateRun(const TrecRun& run, const Collection& collection,
                       const EvaluateOptions& options);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_METRICS_EVALUATE_H_
