// Counts by which operators see how well each model version answers: how many
// queries it does not know at all, how high the first result scores, and how
// often the query names that result.
//
//   Labels   name and version. A version has its series while it is in memory,
//            and then until another version is loaded, so the number of series
//            is bounded.
//   Threads  thread-safe.
//   Cost     the series are resolved when a model is loaded; an answer costs
//            one observation and one to three atomic additions.
#ifndef SEMRANK_SERVER_MODELS_QUALITY_METRICS_H_
#define SEMRANK_SERVER_MODELS_QUALITY_METRICS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "model/base/mutex.h"
#include "model/nn/two_tower_model.h"
#include "model/text/known_features.h"
#include "server/base/metrics.h"

namespace semrank {

// The series of one model version.
class ModelQuality {
 public:
  // Counts a query that was answered. `top_score` is that of the first result,
  // if there is one; `is_named` says whether the query names that result.
  void CountAnswer(const KnownFeatures& query, std::optional<float> top_score,
                   bool is_named) const;

 private:
  friend class QualityMetrics;
  prometheus::Counter* queries_ = nullptr;
  prometheus::Counter* unknown_ = nullptr;
  prometheus::Counter* named_ = nullptr;
  prometheus::Histogram* top_score_ = nullptr;
};

class QualityMetrics {
 public:
  // `metrics` must outlive this and every use of what Add returns.
  explicit QualityMetrics(Metrics* metrics);

  // The series of a version that is loaded. Removes those of versions that
  // nothing uses any more.
  std::shared_ptr<const ModelQuality> Add(const TwoTowerModel& model);

 private:
  struct Series {
    ModelQuality quality;
    std::weak_ptr<const ModelQuality> in_use;
  };
  void Remove(const ModelQuality& quality);

  prometheus::Family<prometheus::Counter>& queries_;
  prometheus::Family<prometheus::Counter>& unknown_;
  prometheus::Family<prometheus::Counter>& named_;
  prometheus::Family<prometheus::Histogram>& top_score_;
  Mutex mutex_;
  // The keys are names and versions.
  std::map<std::pair<std::string, std::int64_t>, Series> series_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_MODELS_QUALITY_METRICS_H_
