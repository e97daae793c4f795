// Remembers the latest ids, each with a number: at least `capacity` of them,
// and at most twice as many.
//
//   Memory   about 20 bytes an id: ids are kept as 64-bit hashes, of which a
//            million contain two equal ones with a chance of 1 in 37 million.
//   Threads  thread-safe.
#ifndef SEMRANK_SERVER_EVENTS_RECENT_IDS_H_
#define SEMRANK_SERVER_EVENTS_RECENT_IDS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "model/base/mutex.h"

namespace semrank {

class RecentIds {
 public:
  explicit RecentIds(std::size_t capacity) : capacity_(capacity) {}

  void Add(std::string_view id, std::uint32_t number) {
    const std::size_t hash = absl::HashOf(id);
    const MutexLock lock(mutex_);
    if (newer_.size() >= capacity_) {
      older_ = std::exchange(newer_, {});
    }
    newer_[hash] = number;
  }

  std::optional<std::uint32_t> Find(std::string_view id) const {
    const std::size_t hash = absl::HashOf(id);
    const MutexLock lock(mutex_);
    for (const Map* const map : {&newer_, &older_}) {
      const auto found = map->find(hash);
      if (found != map->end()) return found->second;
    }
    return std::nullopt;
  }

 private:
  using Map = absl::flat_hash_map<std::size_t, std::uint32_t>;

  const std::size_t capacity_;
  mutable Mutex mutex_;
  Map newer_ ABSL_GUARDED_BY(mutex_);
  Map older_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_EVENTS_RECENT_IDS_H_
