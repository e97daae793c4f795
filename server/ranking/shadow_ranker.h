// Ranks a share of the requests with a second model once they are answered, and
// compares the two rankings: what a new model would change, before any caller
// sees it.
//
//   Load     one thread, and only while no request waits for a worker and the
//            server leaves a quarter of its processors idle. What would have to
//            wait is dropped and counted.
//   Memory   a copy of each queued request, 16 MiB together, and a vector cache
//            of its own, so that callers' vectors stay in theirs.
//   Threads  all methods are thread-safe.
//   Errors   no caller sees any: a request that the second model cannot rank is
//            counted.
#ifndef SEMRANK_SERVER_RANKING_SHADOW_RANKER_H_
#define SEMRANK_SERVER_RANKING_SHADOW_RANKER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "model/base/mutex.h"
#include "server/base/limits.h"
#include "server/base/metrics.h"
#include "server/base/worker_pool.h"
#include "server/models/model_store.h"
#include "server/ranking/ranking_engine.h"
#include "server/vectors/document_vector_cache.h"
#include "server/vectors/text_embedder.h"

namespace semrank {

// The processor time of this process.
absl::Duration ProcessorTime();

// How alike two rankings of the same candidates are.
struct RankingComparison {
  // The share of the first ten results of one ranking (all, if it has fewer)
  // that are among as many first results of the other.
  double overlap = 1;
  // Kendall's tau of the first ranking's first 100 results: 1 = the second one
  // has them in the same order, -1 = in the opposite one. Nullopt for fewer
  // than two.
  std::optional<double> correlation = {};
};

// `other` has all candidates of `shown`, and maybe more.
RankingComparison CompareRankings(std::span<const RankedDocument> shown,
                                  std::span<const RankedDocument> other);

class ShadowRanker {
 public:
  struct Options {
    std::string model = {};  // a served model; empty = nothing is ranked
    double share = 1;        // of the requests that are offered
    // Whether callers wait; asked before each batch of texts.
    std::function<bool()> callers_wait = [] { return false; };
    int num_processors = 1;
    std::function<absl::Duration()> processor_time = &ProcessorTime;
    std::function<absl::Time()> now = &absl::Now;
  };
  struct Stats {
    std::string model = {};
    std::int64_t num_ranked = 0;
    std::int64_t num_dropped = 0;
    std::int64_t num_failed = 0;
    double mean_overlap = 0;
    double mean_correlation = 0;
  };

  // What the pointers refer to must outlive this.
  ShadowRanker(Options options, const Limits& limits, const ModelStore* models,
               const DocumentCatalog* catalog, Metrics* metrics);
  // Drops what is queued.
  ~ShadowRanker();
  ShadowRanker(const ShadowRanker&) = delete;
  ShadowRanker& operator=(const ShadowRanker&) = delete;

  // Whether a request is of the share; `random` is uniform in [0, 1).
  bool Wants(double random) const { return random < options_.share; }
  // A copy of a request that `served` has answered, or null: the server is
  // busy, or the request has vectors, which are of one model.
  struct Request;
  std::shared_ptr<const Request> Copy(const ServedModel& served,
                                      const RankInput& input,
                                      const RankResult& result);
  // Ranks the request; for a time when its answer is complete.
  void Queue(std::shared_ptr<const Request> request);
  // Returns when everything that was queued has been ranked or dropped.
  void WaitUntilIdle();

  Stats GetStats() const;

 private:
  bool IsBusy();
  bool HasRoom(std::size_t num_bytes) const;
  void Rank(const Request& request);
  void Compare(const Request& request, const RankResult& result);

  const Options options_;
  const ModelStore& models_;
  const std::unique_ptr<DocumentVectorCache> cache_;
  // The stages of shadow rankings are in no metric of callers' requests.
  Metrics own_metrics_;
  const TextEmbedder embedder_;
  const RankingEngine engine_;

  prometheus::Counter* ranked_;
  prometheus::Counter* dropped_;
  prometheus::Counter* failed_;
  prometheus::Histogram* overlap_;
  prometheus::Histogram* correlation_;
  prometheus::Histogram* seconds_;
  std::atomic<bool> stopping_ = false;

  mutable Mutex mutex_;
  CondVar became_idle_;
  std::size_t num_queued_ ABSL_GUARDED_BY(mutex_) = 0;
  std::size_t queued_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  double overlap_sum_ ABSL_GUARDED_BY(mutex_) = 0;
  double correlation_sum_ ABSL_GUARDED_BY(mutex_) = 0;
  std::int64_t num_correlations_ ABSL_GUARDED_BY(mutex_) = 0;
  // The last look at the load.
  absl::Time looked_at_ ABSL_GUARDED_BY(mutex_);
  absl::Duration time_at_look_ ABSL_GUARDED_BY(mutex_);
  bool busy_ ABSL_GUARDED_BY(mutex_) = false;
  WorkerPool thread_{1};  // last: its task uses the rest
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RANKING_SHADOW_RANKER_H_
