// Compares a trained model with BM25 and letter TF-IDF on the validation data,
// and shows some of its rankings, for a person who decides whether to serve it.
//
//   Data     the judged validation queries; without them held-out clicks
//            (report_data.h, which bounds their number): the validation pairs,
//            or those of the trial that fits the lexical weight.
//   Cost     of each ranker about as long as the validation of an epoch.
//   Threads  one thread calls; the pool works.
//   Ctrl-C   does not end a comparison: what was trained before it is published
//            only if the comparison allows it.
#ifndef SEMRANK_MODEL_TRAIN_VALIDATION_RANKER_COMPARISON_H_
#define SEMRANK_MODEL_TRAIN_VALIDATION_RANKER_COMPARISON_H_

#include <cstddef>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/base/thread_pool.h"
#include "model/data/collection.h"
#include "model/eval/metrics/evaluate.h"
#include "model/eval/metrics/metrics.h"
#include "model/eval/rankers/ranker.h"
#include "model/nn/two_tower_model.h"
#include "model/train/options/train_options.h"

namespace semrank {

inline constexpr std::size_t kNumExamples = 10;
inline constexpr std::uint32_t kExampleDepth = 3;

// Titles and queries are normalised, as the model reads them.
struct ExampleTitle {
  std::string title;
  float score = 0;
  bool relevant = false;  // judged so, or clicked
};

struct ExampleRanking {
  std::string query;
  std::vector<ExampleTitle> titles;  // the best, at most kExampleDepth
};

struct RankerComparison {
  bool judged = false;  // by judged queries, not by held-out clicks
  // The figures are those of the trial, which is shorter and did not learn from
  // these queries. The published model has learned from them.
  bool trial = false;
  std::size_t num_queries = 0;
  std::size_t num_titles = 0;
  MetricSummary bm25;
  MetricSummary letter_tfidf;
  // The model of --init_from before training.
  std::optional<MetricSummary> start = std::nullopt;
  // The trained model; unknown until it is measured.
  std::optional<MetricSummary> model = std::nullopt;
  // Queries for which the model has a relevant title among the first
  // kExampleDepth, and at most kNumExamples of these.
  std::size_t num_hits = 0;
  std::vector<ExampleRanking> examples = {};
};

// Fewer queries say next to nothing: the standard error of NDCG@10, whose
// standard deviation over queries is about .4, is then above .04.
inline constexpr std::size_t kFewQueries = 100;

// For people: the measured model beside the baselines, in one or two lines.
std::string DescribeComparison(const RankerComparison& comparison);
// Adds the members "comparison" and "examples" of a run's summary
// (FormatSummaryJson).
void AddComparison(const RankerComparison& comparison,
                   nlohmann::ordered_json& summary);

class RankerComparer {
 public:
  // `judged` or else `held_out`; both may be null.
  RankerComparer(const DataOptions& options,
                 std::shared_ptr<const Collection> judged,
                 std::shared_ptr<const Collection> held_out);

  bool has_queries() const { return collection_ != nullptr; }

  // Measures BM25 and letter TF-IDF. nullopt without queries.
  absl::StatusOr<std::optional<RankerComparison>> MeasureBaselines(
      ThreadPool& pool);
  // Measures the model of --init_from.
  absl::Status AddStart(std::shared_ptr<const TwoTowerModel> model,
                        ThreadPool& pool, RankerComparison& comparison);
  // Completes what MeasureBaselines returned. The examples are at equal
  // distances in the order of the file, not the best ones.
  absl::Status AddModel(std::shared_ptr<const TwoTowerModel> model,
                        ThreadPool& pool, RankerComparison& comparison);

  // Why the model of AddModel should not be served: a sentence that says which
  // of letter TF-IDF and the start ranks significantly better (paired t-test, p
  // below .01, on 20 queries or more). nullopt if none does.
  std::optional<std::string> DescribeLoss() const;

 private:
  // A ranker that the model should not be worse than.
  struct Baseline {
    std::string name;
    Evaluation evaluation;
  };

  absl::StatusOr<Evaluation> Measure(const Ranker& ranker, ThreadPool& pool,
                                     std::uint32_t run_depth = 0) const;
  void AddExamples(const Evaluation& evaluation,
                   RankerComparison& comparison) const;

  bool judged_;
  std::shared_ptr<const Collection> collection_;  // may be null
  EvaluateOptions options_;
  std::vector<Baseline> baselines_;
  std::optional<Evaluation> model_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_VALIDATION_RANKER_COMPARISON_H_
