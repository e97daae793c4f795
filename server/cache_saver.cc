#include "server/cache_saver.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "absl/time/clock.h"
#include "model/base/status_macros.h"

namespace semrank {

CacheSaver::CacheSaver(Options options, DocumentVectorCache* cache,
                       std::function<std::vector<ServedModelPtr>()> models,
                       Metrics& metrics)
    : options_(std::move(options)),
      cache_(cache),
      models_(std::move(models)),
      secret_(Fingerprinter::RandomSecret()) {
  AddReadings(metrics);
  if (options_.path.empty()) return;
  absl::StatusOr<CacheSnapshot> snapshot = CacheSnapshot::Open(options_.path);
  if (snapshot.ok()) {
    secret_ = snapshot->secret();
    snapshot_.emplace(*std::move(snapshot));
  } else if (absl::IsNotFound(snapshot.status())) {
    spdlog::info("no cache snapshot {} yet", options_.path);
  } else {
    CountFailure(snapshot.status());
  }
}

void CacheSaver::AddReadings(Metrics& metrics) const {
  using prometheus::MetricType;
  const auto add = [&](const char* name, const char* help, MetricType type,
                       const std::atomic<std::int64_t>& value) {
    metrics.AddReading(
        {name, help, type, [&value] { return static_cast<double>(value); }});
  };
  add("semrank_cache_snapshot_restored_vectors",
      "Document vectors that came back from the snapshot at the start.",
      MetricType::Gauge, restored_vectors_);
  add("semrank_cache_snapshot_vectors",
      "Document vectors in the snapshot written last.", MetricType::Gauge,
      saved_vectors_);
  add("semrank_cache_snapshot_timestamp_seconds",
      "When that was; 0 = none was written.", MetricType::Gauge,
      saved_seconds_);
  add("semrank_cache_snapshot_failures_total",
      "Snapshots that could not be read or written.", MetricType::Counter,
      num_failures_);
}

void CacheSaver::Restore() {
  if (!snapshot_.has_value()) return;
  const absl::StatusOr<std::int64_t> restored =
      snapshot_->Restore(models_(), *cache_);
  CountFailure(restored.status());
  restored_vectors_ = restored.value_or(0);
  spdlog::info("{} of {} vectors of the cache snapshot {} are back",
               restored_vectors_.load(), snapshot_->num_vectors(),
               options_.path);
  snapshot_.reset();
}

void CacheSaver::Start() {
  if (options_.path.empty()) return;
  timer_ = std::make_unique<PeriodicTask>(options_.interval, [this] {
    const absl::Status saved = Save([this] { return finishing_.load(); });
    // One that the end of the server cut short is written anew by Finish.
    if (!finishing_) CountFailure(saved);
  });
}

void CacheSaver::Finish(absl::Time limit) {
  if (options_.path.empty()) return;
  finishing_ = true;
  timer_.reset();
  CountFailure(Save([limit] { return absl::Now() >= limit; }));
}

absl::Status CacheSaver::Save(absl::FunctionRef<bool()> stop) {
  const absl::Time begin = absl::Now();
  SEMRANK_ASSIGN_OR_RETURN(
      const std::int64_t num_vectors,
      WriteCacheSnapshot(options_.path, secret_, models_(), *cache_, stop));
  saved_vectors_ = num_vectors;
  saved_seconds_ = absl::ToUnixSeconds(absl::Now());
  spdlog::info("wrote {} vectors to the cache snapshot {} in {:.2f} s",
               num_vectors, options_.path,
               absl::ToDoubleSeconds(absl::Now() - begin));
  return absl::OkStatus();
}

void CacheSaver::CountFailure(const absl::Status& status) {
  if (status.ok()) return;
  ++num_failures_;
  spdlog::warn("cache snapshot {}: {}", options_.path,
               std::string(status.message()));
}

}  // namespace semrank
