// Counts open connections against a limit, and those of each address against
// its share. The HTTP port, which has another limit, counts its refusals here.
//
//   Threads  thread-safe.
#ifndef SEMRANK_SERVER_BASE_CONNECTION_COUNT_H_
#define SEMRANK_SERVER_BASE_CONNECTION_COUNT_H_

#include <atomic>
#include <cstdint>
#include <string_view>

#include "server/base/fair_share.h"

namespace semrank {

class ConnectionCount {
 public:
  explicit ConnectionCount(std::int64_t max_connections,
                           double max_share_per_caller = 1)
      : max_connections_(max_connections),
        shares_("connections", max_connections, max_share_per_caller) {}
  ConnectionCount(const ConnectionCount&) = delete;
  ConnectionCount& operator=(const ConnectionCount&) = delete;

  // Counts one more connection of a caller (CallerName). At the limit, or when
  // the caller has its share, it counts a refusal and returns false. Each
  // success needs one Leave.
  bool Enter(std::string_view caller = {}) {
    if (shares_.Take(caller, 1)) {
      if (num_open_.fetch_add(1) < max_connections_) return true;
      --num_open_;
      shares_.Return(caller, 1);
    }
    CountRefusal();
    return false;
  }
  void Leave(std::string_view caller = {}) {
    --num_open_;
    shares_.Return(caller, 1);
  }
  void CountRefusal() { ++num_refused_; }
  // Counts an accept that failed because the system had no file descriptor or
  // no memory.
  void CountAcceptFailure() { ++num_accept_failures_; }
  // Counts a connection that was closed because of the memory it took.
  void CountFlood() { ++num_floods_; }

  std::int64_t max_connections() const { return max_connections_; }
  std::int64_t num_open() const { return num_open_; }
  std::int64_t num_refused() const { return num_refused_; }
  std::int64_t num_accept_failures() const { return num_accept_failures_; }
  std::int64_t num_floods() const { return num_floods_; }

 private:
  const std::int64_t max_connections_;
  FairShare shares_;
  std::atomic<std::int64_t> num_open_ = 0;
  std::atomic<std::int64_t> num_refused_ = 0;
  std::atomic<std::int64_t> num_accept_failures_ = 0;
  std::atomic<std::int64_t> num_floods_ = 0;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_CONNECTION_COUNT_H_
