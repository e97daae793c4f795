// Lists, and those that were clicked, by the version of the model that ranked
// them, as families of Metrics: click rates and abandonment while they arise.
// `semrank events stats` has them without robots and doubles.
//
//   Series   of kMaxRankers versions. A further one replaces the one that
//            ranked least recently if that was kMinIdle ago; else its lists
//            count under the name "other".
//   Threads  not thread-safe.
#ifndef SEMRANK_SERVER_EVENTS_RANKER_COUNTERS_H_
#define SEMRANK_SERVER_EVENTS_RANKER_COUNTERS_H_

#include <prometheus/counter.h>
#include <prometheus/family.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "server/base/metrics.h"

namespace semrank {

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

#endif  // SEMRANK_SERVER_EVENTS_RANKER_COUNTERS_H_
