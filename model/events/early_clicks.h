// What ClickJoin remembers beside the lists that wait for clicks: clicks whose
// list was not read yet, and the ids of lists that no longer wait.
//
//   Threads  not thread-safe.
#ifndef SEMRANK_MODEL_EVENTS_EARLY_CLICKS_H_
#define SEMRANK_MODEL_EVENTS_EARLY_CLICKS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

namespace semrank {

// Texts are represented by their hashes.
struct Click {
  std::uint64_t list = 0;
  std::uint64_t event_id = 0;  // 0 = none
  std::uint32_t document = 0;  // half of its hash; 0 = none
  std::uint32_t position = 0;
  std::int64_t time_ms = 0;
};

// The clicks that were read before their lists.
class EarlyClicks {
 public:
  // An application that reports clicks without lists must not fill the memory.
  static constexpr std::size_t kMaxClicks = 1'000'000;
  static constexpr std::size_t kMaxClicksOfList = 1'000;

  // False if the list has too many.
  bool Add(const Click& click, std::int64_t due_ms) {
    std::vector<Click>& clicks = by_list_[click.list];
    if (clicks.size() == kMaxClicksOfList) return false;
    if (clicks.empty()) queue_.emplace_back(due_ms, click.list);
    clicks.push_back(click);
    ++size_;
    return true;
  }
  std::vector<Click> Take(std::uint64_t list) {
    const auto found = by_list_.find(list);
    if (found == by_list_.end()) return {};
    std::vector<Click> clicks = std::move(found->second);
    by_list_.erase(found);
    size_ -= clicks.size();
    return clicks;
  }
  // Returns how many of them are due, or too many.
  std::int64_t Forget(std::int64_t now_ms) {
    std::int64_t num_forgotten = 0;
    while (!queue_.empty() &&
           (queue_.front().first < now_ms || size_ > kMaxClicks)) {
      num_forgotten += std::ssize(Take(queue_.front().second));
      queue_.pop_front();
    }
    return num_forgotten;
  }
  std::size_t num_bytes() const {
    return size_ * sizeof(Click) + queue_.size() * 64;
  }

 private:
  absl::flat_hash_map<std::uint64_t, std::vector<Click>> by_list_;
  std::deque<std::pair<std::int64_t, std::uint64_t>> queue_;  // due, list
  std::size_t size_ = 0;
};

// The lists that were passed on during the last window, at least.
class RecentLists {
 public:
  explicit RecentLists(std::int64_t window_ms) : window_ms_(window_ms) {}

  void Add(std::uint64_t list, std::int64_t now_ms) {
    if (now_ms - begun_ms_ > window_ms_) {
      older_ = std::exchange(newer_, {});
      begun_ms_ = now_ms;
    }
    newer_.insert(list);
  }
  bool Contains(std::uint64_t list) const {
    return newer_.contains(list) || older_.contains(list);
  }
  std::size_t num_bytes() const { return (newer_.size() + older_.size()) * 16; }

 private:
  const std::int64_t window_ms_;
  std::int64_t begun_ms_ = 0;
  absl::flat_hash_set<std::uint64_t> newer_;
  absl::flat_hash_set<std::uint64_t> older_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVENTS_EARLY_CLICKS_H_
