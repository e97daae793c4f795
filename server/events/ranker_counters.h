// Lists, and those that were clicked, by the version of the model that ranked
// them, as families of Metrics: click rates and abandonment while they arise.
// `semrank events stats` has them without robots and doubles.
//
//   Series   of the latest kMaxRankers versions; those of older ones are
//            removed.
//   Threads  not thread-safe.
#ifndef SEMRANK_SERVER_EVENTS_RANKER_COUNTERS_H_
#define SEMRANK_SERVER_EVENTS_RANKER_COUNTERS_H_

#include <prometheus/counter.h>
#include <prometheus/family.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "server/base/metrics.h"

namespace semrank {

class RankerCounters {
 public:
  static constexpr std::size_t kMaxRankers = 8;

  // `metrics` must outlive the counters.
  explicit RankerCounters(Metrics& metrics);

  // Counts a list of `ranker`, "shop/3", and returns the ranker's number, which
  // is not 0.
  std::uint32_t CountList(std::string_view ranker);

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
    Counter* lists;
    std::array<Counter*, kNumDepths> clicked;
  };
  void RemoveOldest();

  prometheus::Family<Counter>& lists_;
  prometheus::Family<Counter>& clicked_;
  std::deque<Ranker> rankers_;      // oldest first
  std::uint32_t first_number_ = 1;  // of rankers_
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_EVENTS_RANKER_COUNTERS_H_
