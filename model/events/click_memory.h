// What ClickJoin remembers beside the lists that wait for clicks: clicks whose
// list was not read yet, the ids of lists that no longer wait, and the sessions
// that clicked.
//
//   Time     milliseconds since 1970; `now_ms` is that of the stream's clock
//            (event_clock.h).
//   Threads  not thread-safe.
#ifndef SEMRANK_MODEL_EVENTS_CLICK_MEMORY_H_
#define SEMRANK_MODEL_EVENTS_CLICK_MEMORY_H_

#include <algorithm>
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

  // `due_ms` is when the click is removed if its list has not been read by
  // then. False if the list has too many.
  bool Add(const Click& click, std::int64_t due_ms) {
    std::vector<Click>& clicks = by_list_[click.list];
    if (clicks.size() == kMaxClicksOfList) return false;
    if (clicks.empty()) queue_.emplace_back(due_ms, click.list);
    clicks.push_back(click);
    ++size_;
    return true;
  }
  // Removes and returns the clicks of a list that was read.
  std::vector<Click> Take(std::uint64_t list) {
    const auto found = by_list_.find(list);
    if (found == by_list_.end()) return {};
    std::vector<Click> clicks = std::move(found->second);
    by_list_.erase(found);
    size_ -= clicks.size();
    return clicks;
  }
  // Removes those that are due, and the oldest ones beyond kMaxClicks; returns
  // their number.
  std::int64_t RemoveDue(std::int64_t now_ms) {
    std::int64_t num_removed = 0;
    while (!queue_.empty() &&
           (queue_.front().first < now_ms || size_ > kMaxClicks)) {
      num_removed += std::ssize(Take(queue_.front().second));
      queue_.pop_front();
    }
    return num_removed;
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

// Finds the sessions that click as no person does. click_join.h states the
// rules.
//
//   Memory   the sessions of the last `memory_ms` that clicked.
class RobotRules {
 public:
  RobotRules(std::int64_t max_clicks_per_minute, std::int64_t memory_ms)
      : max_clicks_per_minute_(max_clicks_per_minute), memory_ms_(memory_ms) {}

  void CountClick(std::uint64_t session, std::int64_t time_ms,
                  std::int64_t now_ms) {
    Session& clicks = sessions_[session];
    const std::int64_t minute = time_ms / kMinuteMs;
    if (minute != std::exchange(clicks.minute, minute)) clicks.num_clicks = 0;
    clicks.last_ms = now_ms;
    if (++clicks.num_clicks > max_clicks_per_minute_ &&
        max_clicks_per_minute_ > 0) {
      Mark(session, now_ms);
    }
  }
  void Mark(std::uint64_t session, std::int64_t now_ms) {
    Session& robot = sessions_[session];
    robot.last_ms = now_ms;
    if (!std::exchange(robot.is_robot, true)) ++num_robots_;
  }
  // Asking keeps the session in memory.
  bool IsRobot(std::uint64_t session, std::int64_t now_ms) {
    const auto found = sessions_.find(session);
    if (found == sessions_.end()) return false;
    found->second.last_ms = std::max(found->second.last_ms, now_ms);
    return found->second.is_robot;
  }
  // Removes sessions that have not clicked for `memory_ms`. Looks only once in
  // that time, as it reads all of them.
  void RemoveEnded(std::int64_t now_ms) {
    if (now_ms - last_removal_ms_ < memory_ms_) return;
    last_removal_ms_ = now_ms;
    absl::erase_if(sessions_, [this, now_ms](const auto& entry) {
      return now_ms - entry.second.last_ms > memory_ms_;
    });
  }

  std::int64_t num_robots() const { return num_robots_; }
  std::size_t num_bytes() const { return sessions_.size() * 64; }

 private:
  static constexpr std::int64_t kMinuteMs = 60'000;

  struct Session {
    std::int64_t minute = 0;
    std::int64_t num_clicks = 0;  // in that minute
    std::int64_t last_ms = 0;     // by the stream's clock
    bool is_robot = false;
  };

  const std::int64_t max_clicks_per_minute_;
  const std::int64_t memory_ms_;
  absl::flat_hash_map<std::uint64_t, Session> sessions_;
  std::int64_t last_removal_ms_ = 0;
  std::int64_t num_robots_ = 0;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVENTS_CLICK_MEMORY_H_
