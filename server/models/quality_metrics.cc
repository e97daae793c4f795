#include "server/models/quality_metrics.h"

#include <prometheus/family.h>

namespace semrank {
namespace {

using Buckets = prometheus::Histogram::BucketBoundaries;

// A cosine is at most 1, apart from rounding, and first results are rarely
// below 0. SSI's sums have no bounds.
const Buckets& ScoreBuckets(v1::ScoreKind kind) {
  static const Buckets cosines = {0,  .1, .2, .3, .4,  .5,
                                  .6, .7, .8, .9, .95, 1};
  static const Buckets sums = {0, .01, .03, .1, .3, 1, 3, 10, 30, 100, 300};
  return kind == v1::SCORE_KIND_SSI_DOT ? sums : cosines;
}

}  // namespace

void ModelQuality::CountAnswer(const KnownFeatures& query,
                               std::optional<float> top_score,
                               bool is_named) const {
  queries_->Increment();
  if (query.num_known_words == 0) unknown_->Increment();
  if (is_named) named_->Increment();
  if (top_score.has_value()) top_score_->Observe(*top_score);
}

QualityMetrics::QualityMetrics(Metrics* metrics)
    : queries_(metrics->CounterFamily(
          "semrank_queries_total",
          "Queries that a model version ranked or searched for.")),
      unknown_(metrics->CounterFamily(
          "semrank_queries_unknown_total",
          "Those of which the model version knows no feature.")),
      named_(metrics->CounterFamily(
          "semrank_queries_named_total",
          "Those that name their first result (name_match).")),
      top_score_(metrics->HistogramFamily(
          "semrank_top_score", "Score of the first result of a query.")) {}

std::shared_ptr<const ModelQuality> QualityMetrics::Add(
    const TwoTowerModel& model) {
  const ModelVersion& version = model.version();
  const auto key = std::pair(version.name, version.version);
  const MutexLock lock(mutex_);
  // The only place that removes series, so they live until the next load:
  // Prometheus can still read the last counts of a version.
  std::erase_if(series_, [&](const auto& entry) {
    const auto& [other, series] = entry;
    // The series of `key` continue when the same version is loaded again.
    if (other == key || !series.in_use.expired()) return false;
    Remove(series.quality);
    return true;
  });
  Series& series = series_[key];
  // The version is loaded again while requests still use its old copy.
  if (auto in_use = series.in_use.lock()) return in_use;
  const prometheus::Labels labels = {
      {"name", version.name}, {"version", std::to_string(version.version)}};
  series.quality.queries_ = &queries_.Add(labels);
  series.quality.unknown_ = &unknown_.Add(labels);
  series.quality.named_ = &named_.Add(labels);
  series.quality.top_score_ =
      &top_score_.Add(labels, ScoreBuckets(model.config().score_kind()));
  const auto quality = std::make_shared<const ModelQuality>(series.quality);
  series.in_use = quality;
  return quality;
}

void QualityMetrics::Remove(const ModelQuality& quality) {
  queries_.Remove(quality.queries_);
  unknown_.Remove(quality.unknown_);
  named_.Remove(quality.named_);
  top_score_.Remove(quality.top_score_);
}

}  // namespace semrank
