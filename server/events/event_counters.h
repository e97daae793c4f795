// What is counted about lists that were shown and events, as families of
// Metrics.
#ifndef SEMRANK_SERVER_EVENTS_EVENT_COUNTERS_H_
#define SEMRANK_SERVER_EVENTS_EVENT_COUNTERS_H_

#include <prometheus/counter.h>
#include <prometheus/family.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "model/events/event.h"
#include "server/base/metrics.h"

namespace semrank {

// All of them together.
//
//   Threads  thread-safe.
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

// Lists, and those that were clicked, by the version of the model that ranked
// them: click rates and abandonment while they arise. `semrank events stats`
// excludes robots and repeated clicks.
//
//   Series   of kMaxRankers versions. A further one replaces the one that
//            ranked least recently if that was kMinIdle ago; else its lists
//            count under the name "other".
//   Threads  not thread-safe.
class RankerCounters {
 public:
  static constexpr std::size_t kMaxRankers = 32;
  static constexpr absl::Duration kMinIdle = absl::Hours(1);

  // `metrics` must outlive the counters.
  explicit RankerCounters(Metrics& metrics);

  // Counts a list of `ranker`, "shop/3", and returns the ranker's number, which
  // is not 0 and, as few rankers are replaced an hour, has at most 24 bits.
  std::uint32_t CountList(std::string_view ranker, absl::Time now);

  // Counts a click at `position` (0 = unknown) on a list of the ranker. `known`
  // is what earlier clicks on the list have returned, or 0: a list counts once.
  // Returns the same for the next click.
  std::uint8_t CountClick(std::uint32_t ranker, std::uint8_t known,
                          std::uint32_t position);

 private:
  // Clicks at position 1, among the first 3, the first 10, or anywhere.
  static constexpr std::size_t kNumDepths = 4;
  using Counter = prometheus::Counter;

  struct Ranker {
    std::string name;
    std::uint32_t number;
    absl::Time last_list;
    Counter* lists;
    std::array<Counter*, kNumDepths> clicked;
  };
  using Rankers = std::vector<Ranker>;
  Rankers::iterator Add(std::string_view ranker);
  // False if all rankers are in use.
  bool RemoveIdle(absl::Time now);

  prometheus::Family<Counter>& lists_;
  prometheus::Family<Counter>& clicked_;
  Rankers rankers_;
  std::uint32_t next_number_ = 1;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_EVENTS_EVENT_COUNTERS_H_
