// Chooses the connections to close while the process exceeds its limit of
// memory. gRPC 1.51 keeps a header block that never ends (the CONTINUATION
// flood) in memory that its quota does not count; only the counters of such a
// peer's socket show what it sends.
//
//   Chosen   while memory is over the limit and has grown since the last look:
//            the connection that received the most bytes since then, and those
//            that received at least half as many, if memory grew by about as
//            much. Requests that are answered and freed do not add to growth.
//   Threads  not thread-safe.
#ifndef SEMRANK_SERVER_RPC_MEMORY_WATCHDOG_H_
#define SEMRANK_SERVER_RPC_MEMORY_WATCHDOG_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace semrank {

class MemoryWatchdog {
 public:
  // A flood can do harm for this long before it is closed.
  static constexpr std::chrono::milliseconds kInterval{20};

  // `resident_bytes` returns the memory of this process.
  MemoryWatchdog(std::int64_t limit_bytes,
                 std::function<std::int64_t()> resident_bytes);

  std::int64_t limit_bytes() const { return limit_bytes_; }

  // Returns the sockets to close. To call every kInterval with the TCP sockets
  // of all connections.
  std::vector<int> Choose(const std::unordered_set<int>& sockets);

 private:
  const std::int64_t limit_bytes_;
  const std::function<std::int64_t()> resident_bytes_;
  std::int64_t last_bytes_ = 0;
  // The bytes that each socket had received by the last look, if memory was
  // over the limit and growing.
  std::unordered_map<int, std::int64_t> received_;
};

// Four fifths of what the control groups of this process allow (a container's
// limit, MemoryMax of systemd); 0 = no limit.
std::int64_t DefaultMemoryLimit();

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_MEMORY_WATCHDOG_H_
