// What the document store did for vectors, as metrics. Only there when a store
// is in use.
//
//   Threads  every method, from any thread.
#ifndef SEMRANK_SERVER_VECTORS_STORE_METRICS_H_
#define SEMRANK_SERVER_VECTORS_STORE_METRICS_H_

#include <prometheus/counter.h>
#include <prometheus/histogram.h>

#include <array>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/base/metrics.h"

namespace semrank {

// Find and write vectors; trial = does a store that failed answer again?
enum class StoreCall { kFind, kWrite, kTrial };
// What became of a vector that was not in memory: found, not there, there but
// damaged, not asked for because the store is left alone, or because the caller
// has no time for it, asked for in vain.
enum class StoreLookup {
  kHit,
  kMiss,
  kRefused,
  kBypassed,
  kNoTime,
  kFailed,
};
// Why a new vector was not written.
enum class StoreDrop { kQueueFull, kBypassed, kFailed };

class StoreMetrics {
 public:
  // `metrics` must outlive this.
  explicit StoreMetrics(Metrics* metrics);

  void CountCall(StoreCall call, const absl::Status& status,
                 absl::Duration time);
  void CountLookups(StoreLookup result, std::int64_t num_vectors) {
    Count(lookups_[static_cast<int>(result)], num_vectors);
  }
  void CountWritten(std::int64_t num_vectors) { Count(written_, num_vectors); }
  void CountDropped(StoreDrop reason, std::int64_t num_vectors) {
    Count(dropped_[static_cast<int>(reason)], num_vectors);
  }

 private:
  static constexpr int kNumCalls = 3;
  static constexpr int kNumOutcomes = 3;

  static void Count(prometheus::Counter* counter, std::int64_t number) {
    counter->Increment(static_cast<double>(number));
  }

  std::array<std::array<prometheus::Counter*, kNumOutcomes>, kNumCalls> calls_;
  std::array<prometheus::Histogram*, kNumCalls> seconds_;
  std::array<prometheus::Counter*, 6> lookups_;
  std::array<prometheus::Counter*, 3> dropped_;
  prometheus::Counter* written_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_VECTORS_STORE_METRICS_H_
