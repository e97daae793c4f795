// What an event log remembers of the lists and events that it knows: the length
// of a list, by which clicks are checked; the ids of events, so that a repeated
// one is not kept twice; and the model that ranked a list and the clicks on it,
// so that a click counts for its ranker.
//
//   Memory   the latest 400,000 lists and as many events at least, twice as
//            many at most: 32 MB together (RecentIds).
//   Threads  thread-safe, but that only one thread calls OnKept.
#ifndef SEMRANK_SERVER_EVENTS_EVENT_MEMORY_H_
#define SEMRANK_SERVER_EVENTS_EVENT_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "absl/time/time.h"
#include "model/base/mutex.h"
#include "model/events/event.h"
#include "server/base/metrics.h"
#include "server/events/event_counters.h"

namespace semrank {

// Remembers the latest ids, each with a value: at least `capacity` of them, and
// at most twice as many.
//
//   Memory   about 20 bytes an id with a value of 8 bytes. Ids are kept as
//            64-bit hashes; among a million, two are equal with a chance of 1
//            in 37 million.
//   Threads  thread-safe.
template <typename Value>
class RecentIds {
 public:
  explicit RecentIds(std::size_t capacity) : capacity_(capacity) {}

  void Add(std::string_view id, const Value& value) {
    const std::size_t hash = absl::HashOf(id);
    const MutexLock lock(mutex_);
    if (newer_.size() >= capacity_) {
      older_ = std::exchange(newer_, {});
    }
    newer_[hash] = value;
  }

  std::optional<Value> Find(std::string_view id) const {
    const std::size_t hash = absl::HashOf(id);
    const MutexLock lock(mutex_);
    for (const Map* const map : {&newer_, &older_}) {
      const auto found = map->find(hash);
      if (found != map->end()) return found->second;
    }
    return std::nullopt;
  }

  // Calls change(value) for a remembered id; other ids must not be touched.
  template <typename ChangeValue>
  void Change(std::string_view id, const ChangeValue& change) {
    const std::size_t hash = absl::HashOf(id);
    const MutexLock lock(mutex_);
    for (Map* const map : {&newer_, &older_}) {
      const auto found = map->find(hash);
      if (found != map->end()) return change(found->second);
    }
  }

 private:
  using Map = absl::flat_hash_map<std::size_t, Value>;

  const std::size_t capacity_;
  mutable Mutex mutex_;
  Map newer_ ABSL_GUARDED_BY(mutex_);
  Map older_ ABSL_GUARDED_BY(mutex_);
};

class EventMemory {
 public:
  // `metrics` must outlive the memory.
  explicit EventMemory(Metrics& metrics);

  // Remembers a list that is not kept yet.
  void AddList(std::string_view id, std::uint32_t length) {
    lists_.Add(id, {.length = length});
  }
  std::optional<std::uint32_t> FindListLength(std::string_view id) const;

  // Removes events that were kept, or whose id occurs twice, and returns how
  // many.
  std::uint32_t RemoveRepeated(std::vector<Event>& events) const;

  // Counts a list, which this server has ranked, for its ranker. An interleaved
  // list has two and does not count.
  void OnKept(const Impression& impression, absl::Time now);
  // Remembers the event, and counts a click for the ranker of its list.
  void OnKept(const Event& event);

 private:
  struct KnownList {
    std::uint32_t length = 0;
    std::uint32_t ranker : 24 = 0;  // of RankerCounters; 0 = none
    std::uint32_t clicks : 8 = 0;   // of RankerCounters
  };

  RankerCounters rankers_;
  RecentIds<KnownList> lists_;
  RecentIds<std::monostate> events_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_EVENTS_EVENT_MEMORY_H_
