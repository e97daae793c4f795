// Counts open connections against a limit.
//
//   Threads  thread-safe.
#ifndef SEMRANK_SERVER_BASE_CONNECTION_COUNT_H_
#define SEMRANK_SERVER_BASE_CONNECTION_COUNT_H_

#include <atomic>
#include <cstdint>

namespace semrank {

class ConnectionCount {
 public:
  explicit ConnectionCount(std::int64_t max_connections)
      : max_connections_(max_connections) {}
  ConnectionCount(const ConnectionCount&) = delete;
  ConnectionCount& operator=(const ConnectionCount&) = delete;

  // Counts one more connection. At the limit it counts a refusal and returns
  // false. Each success needs one Leave.
  bool Enter() {
    if (num_open_.fetch_add(1) < max_connections_) return true;
    --num_open_;
    ++num_refused_;
    return false;
  }
  void Leave() { --num_open_; }
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
  std::atomic<std::int64_t> num_open_ = 0;
  std::atomic<std::int64_t> num_refused_ = 0;
  std::atomic<std::int64_t> num_accept_failures_ = 0;
  std::atomic<std::int64_t> num_floods_ = 0;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_CONNECTION_COUNT_H_
