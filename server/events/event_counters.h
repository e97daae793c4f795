// What is counted about events, as families of Metrics.
//
//   Threads  thread-safe.
#ifndef SEMRANK_SERVER_EVENTS_EVENT_COUNTERS_H_
#define SEMRANK_SERVER_EVENTS_EVENT_COUNTERS_H_

#include <prometheus/counter.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "model/events/event.h"
#include "server/base/metrics.h"

namespace semrank {

class EventCounters {
 public:
  // Clicks further down share one counter.
  static constexpr std::size_t kNumPositions = 10;

  // `metrics` must outlive the counters.
  explicit EventCounters(Metrics& metrics);

  void CountImpressions(std::int64_t count, bool written) {
    (written ? impressions_ : dropped_)->Increment(static_cast<double>(count));
  }
  // Counts an event that is kept.
  void CountEvent(const Event& event);
  void CountOrphans(std::int64_t count) {
    orphans_->Increment(static_cast<double>(count));
  }
  void CountDuplicates(std::int64_t count) {
    duplicates_->Increment(static_cast<double>(count));
  }
  void CountUnwrittenReport() { unwritten_reports_->Increment(); }

  std::int64_t num_impressions() const { return Value(impressions_); }
  std::int64_t num_dropped() const { return Value(dropped_); }
  std::int64_t num_events() const;
  std::int64_t num_orphans() const { return Value(orphans_); }
  std::int64_t num_duplicates() const { return Value(duplicates_); }
  std::int64_t num_unwritten_reports() const {
    return Value(unwritten_reports_);
  }
  // Clicks at positions 1, 2, ...; the last element has those further down and
  // those without a position.
  std::array<std::int64_t, kNumPositions + 1> clicks() const;

 private:
  static std::int64_t Value(const prometheus::Counter* counter) {
    return static_cast<std::int64_t>(counter->Value());
  }

  prometheus::Counter* impressions_;
  prometheus::Counter* dropped_;
  std::array<prometheus::Counter*, 4> events_;  // by kind
  std::array<prometheus::Counter*, kNumPositions + 1> clicks_;
  prometheus::Counter* orphans_;
  prometheus::Counter* duplicates_;
  prometheus::Counter* unwritten_reports_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_EVENTS_EVENT_COUNTERS_H_
