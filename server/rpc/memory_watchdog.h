// Chooses the connections to close while the process needs more memory than it
// may. gRPC 1.51 keeps a header block that never ends (the CONTINUATION flood)
// in memory that its quota does not count; what such a peer sends shows on its
// socket only.
//
//   Chosen   while memory is over the limit and has grown since the last look:
//            the connection that brought the most bytes since then, and those
//            that brought at least half as many, if memory grew by about as
//            much. What is read, answered and freed does not show in growth.
//   Threads  one at a time.
#ifndef SEMRANK_SERVER_RPC_MEMORY_WATCHDOG_H_
#define SEMRANK_SERVER_RPC_MEMORY_WATCHDOG_H_

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace semrank {

class MemoryWatchdog {
 public:
  // What a flood brings in this time is what it may do before it is closed.
  static constexpr std::chrono::milliseconds kInterval{20};

  // `resident_bytes` says what this process needs.
  MemoryWatchdog(std::int64_t limit_bytes,
                 std::function<std::int64_t()> resident_bytes);

  std::int64_t limit_bytes() const { return limit_bytes_; }

  // To be called every kInterval with the TCP sockets of all connections.
  std::vector<int> Choose(const std::unordered_set<int>& sockets);

 private:
  const std::int64_t limit_bytes_;
  const std::function<std::int64_t()> resident_bytes_;
  std::int64_t last_bytes_ = 0;
  // What each socket had brought by the last look, if memory was over the limit
  // and growing.
  std::unordered_map<int, std::int64_t> received_;
};

// Memory of this process in RAM; 0 if the system does not say.
std::int64_t ResidentBytes();

// The least that control group `group` ("/a/b") and those above it allow, of
// version 2 below `root`; 0 = no limit.
std::int64_t ControlGroupLimit(const std::filesystem::path& root,
                               const std::string& group);

// Four fifths of what the control groups of this process allow (a container's
// limit, MemoryMax of systemd); 0 = no limit.
std::int64_t DefaultMemoryLimit();

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_MEMORY_WATCHDOG_H_
