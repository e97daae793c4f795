// Compares a trained model with BM25 on the validation data, and shows some of
// its rankings, for a person who decides whether to serve it.
//
//   Data     the judged validation queries; without them the held-out clicks
//            (report_data.h, which bounds their number).
//   Cost     BM25 is measured once, before the first step, the model once,
//            after the last: each about as long as the validation of an epoch.
//   Threads  one thread calls; the pool works.
//   Errors   Cancelled after Ctrl-C.
#ifndef SEMRANK_MODEL_TRAIN_VALIDATION_RANKER_COMPARISON_H_
#define SEMRANK_MODEL_TRAIN_VALIDATION_RANKER_COMPARISON_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/base/thread_pool.h"
#include "model/data/collection.h"
#include "model/eval/metrics/evaluate.h"
#include "model/eval/metrics/metrics.h"
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
  std::size_t num_queries = 0;
  std::size_t num_titles = 0;
  MetricValues bm25{};
  // Metrics and examples of the published model, unknown until the end of the
  // run.
  std::optional<MetricValues> model = std::nullopt;
  std::vector<ExampleRanking> examples = {};  // at most kNumExamples
};

class RankerComparer {
 public:
  // `judged` or else `held_out`; both may be null.
  RankerComparer(const DataOptions& options,
                 std::shared_ptr<const Collection> judged,
                 std::shared_ptr<const Collection> held_out);

  // nullopt without queries.
  absl::StatusOr<std::optional<RankerComparison>> MeasureBm25(
      ThreadPool& pool) const;
  // Completes what MeasureBm25 returned. The examples are queries at equal
  // distances in the order of their file, not the best ones.
  absl::Status AddModel(std::shared_ptr<const TwoTowerModel> model,
                        ThreadPool& pool, RankerComparison& comparison) const;

 private:
  bool judged_;
  std::shared_ptr<const Collection> collection_;  // may be null
  EvaluateOptions options_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_VALIDATION_RANKER_COMPARISON_H_
