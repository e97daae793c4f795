// Finds the sessions that click as no person does. click_join.h states the
// rules.
//
//   Memory   the sessions of the last `memory_ms` that clicked.
//   Threads  not thread-safe.
#ifndef SEMRANK_MODEL_EVENTS_ROBOT_RULES_H_
#define SEMRANK_MODEL_EVENTS_ROBOT_RULES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace semrank {

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
  // Forgets sessions that have ended.
  void Forget(std::int64_t now_ms) {
    if (now_ms - std::exchange(last_forget_ms_, now_ms) < memory_ms_) {
      return;
    }
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
  std::int64_t last_forget_ms_ = 0;
  std::int64_t num_robots_ = 0;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVENTS_ROBOT_RULES_H_
