// Counts what the lists of a folder of events show at a glance: events by kind,
// clicks by model and by position.
//
//   Memory   at most 1,000 kinds and 1,000 models; further ones count together
//            as "(others)".
//   Threads  not thread-safe.
#ifndef SEMRANK_MODEL_EVENTS_EVENT_STATS_H_
#define SEMRANK_MODEL_EVENTS_EVENT_STATS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/events/click_join.h"

namespace semrank {

struct ShownAtPosition {
  std::int64_t impressions = 0;
  std::int64_t clicks = 0;
};

struct ShownByRanker {
  std::int64_t lists = 0;
  std::int64_t clicks = 0;
  // Lists with a click at all, and among the first 1, 3 and 10 results.
  std::int64_t clicked = 0;
  std::int64_t clicked_at_1 = 0;
  std::int64_t clicked_at_3 = 0;
  std::int64_t clicked_at_10 = 0;
};

class EventStats {
 public:
  // Counts a record as it was read: kinds of events.
  void AddRecord(const EventRecord& record);
  // Counts a list of `join`.
  void AddList(const JoinedList& list, const ClickJoin& join);

  // The first is position 1.
  const std::vector<ShownAtPosition>& positions() const { return positions_; }
  const std::map<std::string, std::int64_t>& kinds() const { return kinds_; }
  // An interleaved list counts for "a + b".
  const std::map<std::string, ShownByRanker>& rankers() const {
    return rankers_;
  }

 private:
  std::vector<ShownAtPosition> positions_;
  std::map<std::string, std::int64_t> kinds_;
  std::map<std::string, ShownByRanker> rankers_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVENTS_EVENT_STATS_H_
