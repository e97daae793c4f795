#include "server/rpc/memory_watchdog.h"

#include <netinet/in.h>
// It must follow netinet/in.h; it has fields that netinet/tcp.h lacks.
#include <linux/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "model/base/resources.h"

namespace semrank {
namespace {

// Connections that receive less in an interval are not a flood, and do not
// explain growth below it.
constexpr std::int64_t kMinBytes = 16'384;

// The bytes since the connection began; 0 if it is not a TCP socket.
std::int64_t ReceivedBytes(int socket) {
  tcp_info info = {};
  socklen_t size = sizeof(info);
  getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size);
  return static_cast<std::int64_t>(info.tcpi_bytes_received);
}

}  // namespace

MemoryWatchdog::MemoryWatchdog(std::int64_t limit_bytes,
                               std::function<std::int64_t()> resident_bytes)
    : limit_bytes_(limit_bytes), resident_bytes_(std::move(resident_bytes)) {}

std::vector<int> MemoryWatchdog::Choose(
    const std::unordered_set<int>& sockets) {
  const std::int64_t bytes = resident_bytes_();
  const std::int64_t growth = bytes - std::exchange(last_bytes_, bytes);
  if (bytes <= limit_bytes_ || growth < kMinBytes) {
    received_.clear();
    return {};
  }
  const auto before = std::exchange(received_, {});
  for (const int socket : sockets) received_[socket] = ReceivedBytes(socket);
  // The first look over the limit has no earlier counts to compare with.
  if (before.empty()) return {};
  std::vector<std::pair<int, std::int64_t>> received;
  std::int64_t most = kMinBytes;
  for (const auto& [socket, all] : received_) {
    // A socket that is new has received all of it since. One whose descriptor
    // belonged to another at the last look may have received less than that
    // one.
    const auto old = before.find(socket);
    const bool is_new = old == before.end() || old->second > all;
    received.emplace_back(socket, is_new ? all : all - old->second);
    most = std::max(most, received.back().second);
  }
  std::vector<int> chosen;
  for (const auto& [socket, fresh] : received) {
    if (fresh >= most / 2 && fresh >= kMinBytes && growth >= fresh / 2) {
      chosen.push_back(socket);
    }
  }
  return chosen;
}

std::int64_t DefaultMemoryLimit() { return MemoryQuota() / 5 * 4; }

}  // namespace semrank
