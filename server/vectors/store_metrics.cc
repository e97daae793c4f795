#include "server/vectors/store_metrics.h"

#include <string>

namespace semrank {
namespace {

constexpr std::array<const char*, 3> kCallLabels = {"find", "write", "trial"};
constexpr std::array<const char*, 3> kOutcomeLabels = {"ok", "timeout",
                                                       "error"};
constexpr std::array<const char*, 6> kLookupLabels = {
    "hit", "miss", "refused", "bypassed", "no_time", "failed"};
constexpr std::array<const char*, 3> kDropLabels = {"queue_full", "bypassed",
                                                    "failed"};

int OutcomeOf(const absl::Status& status) {
  if (status.ok()) return 0;
  return absl::IsDeadlineExceeded(status) ? 1 : 2;
}

}  // namespace

StoreMetrics::StoreMetrics(Metrics* metrics) {
  auto& calls = metrics->CounterFamily(
      "semrank_store_calls_total", "Calls of the document store for vectors.");
  auto& seconds =
      metrics->HistogramFamily("semrank_store_call_duration_seconds",
                               "Time of one call of the document store.");
  for (int i = 0; i < kNumCalls; ++i) {
    const std::string call = kCallLabels[i];
    for (int j = 0; j < kNumOutcomes; ++j) {
      calls_[i][j] =
          &calls.Add({{"call", call}, {"result", kOutcomeLabels[j]}});
    }
    seconds_[i] = &seconds.Add({{"call", call}}, Metrics::StageBuckets());
  }
  auto& lookups = metrics->CounterFamily(
      "semrank_store_requests_total",
      "Document vectors that were not in memory, by what "
      "the document store had to say.");
  for (std::size_t i = 0; i < kLookupLabels.size(); ++i) {
    lookups_[i] = &lookups.Add({{"result", kLookupLabels[i]}});
  }
  auto& dropped =
      metrics->CounterFamily("semrank_store_dropped_vectors_total",
                             "New vectors that were not written to the store.");
  for (std::size_t i = 0; i < kDropLabels.size(); ++i) {
    dropped_[i] = &dropped.Add({{"reason", kDropLabels[i]}});
  }
  written_ = &metrics
                  ->CounterFamily("semrank_store_written_vectors_total",
                                  "New vectors that were written to the store.")
                  .Add({});
}

void StoreMetrics::CountCall(StoreCall call, const absl::Status& status,
                             absl::Duration time) {
  const int i = static_cast<int>(call);
  calls_[i][OutcomeOf(status)]->Increment();
  seconds_[i]->Observe(absl::ToDoubleSeconds(time));
}

}  // namespace semrank
