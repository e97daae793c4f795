// Divides something that all callers use among them: texts in flight, time of
// workers, connections, bytes. A caller may hold `max_share` of what the others
// leave free, so one caller never takes all of it, and another one always finds
// room.
//
//   Caller   its name as CallerName (auth/caller_name.h) makes it. What has an
//            empty name is the server's own work, and is not counted.
//   First    a caller that holds nothing may take all that is free: no request
//            is too large for a share.
//   Share    1 or more = no caller is refused for its share.
//   Threads  thread-safe; a short lock.
#ifndef SEMRANK_SERVER_BASE_FAIR_SHARE_H_
#define SEMRANK_SERVER_BASE_FAIR_SHARE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "model/base/mutex.h"

namespace semrank {

class FairShare {
 public:
  // `unit` names what is divided in errors: "texts in flight".
  FairShare(std::string_view unit, std::int64_t capacity, double max_share)
      : unit_(unit), capacity_(capacity), max_share_(max_share) {}
  FairShare(const FairShare&) = delete;
  FairShare& operator=(const FairShare&) = delete;

  // False, and nothing is taken, when the caller would hold more than its
  // share. Each success needs one Return.
  bool Take(std::string_view caller, std::int64_t amount);
  void Return(std::string_view caller, std::int64_t amount);

  // RESOURCE_EXHAUSTED CALLER_SHARE when the caller can take nothing more. A
  // hint: it may change before Take, which decides.
  absl::Status Check(std::string_view caller) const;
  // The error for an `amount` that Take has refused.
  absl::Status OverShare(std::string_view caller, std::int64_t amount) const;

  std::int64_t held_by(std::string_view caller) const;
  // Whether other callers hold something.
  bool others_hold(std::string_view caller) const;

 private:
  bool counts(std::string_view caller) const {
    return max_share_ < 1 && !caller.empty();
  }
  std::int64_t HeldLocked(std::string_view caller) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::int64_t LimitLocked(std::int64_t held) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string unit_;
  const std::int64_t capacity_;
  const double max_share_;
  mutable Mutex mutex_;
  std::int64_t total_ ABSL_GUARDED_BY(mutex_) = 0;
  // Callers that hold something.
  absl::flat_hash_map<std::string, std::int64_t> held_ ABSL_GUARDED_BY(mutex_);
};

// An amount that is returned when it is reset or destroyed. Must not outlive
// its FairShare.
class HeldShare {
 public:
  HeldShare() = default;
  HeldShare(HeldShare&& other) noexcept { *this = std::move(other); }
  HeldShare& operator=(HeldShare&& other) noexcept;
  ~HeldShare() { Reset(); }

  // Returns what is held, then takes; false when that exceeds the share.
  bool Take(FairShare& share, std::string_view caller, std::int64_t amount);
  void Reset();

 private:
  FairShare* share_ = nullptr;  // null = nothing is held
  std::string caller_;
  std::int64_t amount_ = 0;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_FAIR_SHARE_H_
