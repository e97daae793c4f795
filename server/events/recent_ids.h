// Remembers the latest ids, each with a value: at least `capacity` of them, and
// at most twice as many.
//
//   Memory   about 20 bytes an id with a value of 8 bytes. Ids are kept as
//            64-bit hashes; among a million, two are equal with a chance of 1
//            in 37 million.
//   Threads  thread-safe.
#ifndef SEMRANK_SERVER_EVENTS_RECENT_IDS_H_
#define SEMRANK_SERVER_EVENTS_RECENT_IDS_H_

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "model/base/mutex.h"

namespace semrank {

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

}  // namespace semrank

#endif  // SEMRANK_SERVER_EVENTS_RECENT_IDS_H_
