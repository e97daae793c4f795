// Accepts TCP connections for gRPC, counts those that are open and closes those
// beyond the limit. gRPC 1.51 bounds nothing, and its own listener never
// accepts again after one accept that finds no free descriptor.
//
//   Counted  a connection counts from accept until its socket is shut down in
//            both directions, by its owner or by a reset. One whose peer has
//            only ended its own side still counts. To notice the end, the
//            listener keeps a second descriptor of each socket.
//   Refused  a connection beyond the limit, or beyond the share of its address,
//            is closed at once, counted, and logged at most once a second.
//   Reset    a connection is reset if it sends without a pause from its
//            beginning, and so delays the transfer of others; with a watchdog,
//            also if it floods the server's memory.
//   Shortage while descriptors or memory are short, connections wait in the
//            kernel, and the listener tries again ten times a second.
//   Threads  its own, and one of SocketTransfer; call the methods from one
//            thread.
#ifndef SEMRANK_SERVER_RPC_CONNECTION_LISTENER_H_
#define SEMRANK_SERVER_RPC_CONNECTION_LISTENER_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>

#include "absl/status/statusor.h"
#include "model/base/file_descriptor.h"
#include "server/base/connection_count.h"
#include "server/base/listening_sockets.h"
#include "server/base/log_throttle.h"
#include "server/rpc/memory_watchdog.h"
#include "server/rpc/socket_transfer.h"

namespace semrank {

class ConnectionListener {
 public:
  // Connections wait in the kernel from here on. `count` must outlive the
  // listener. The errors are those of ListenAt.
  static absl::StatusOr<std::unique_ptr<ConnectionListener>> Listen(
      const std::string& address, ConnectionCount* count);
  // Releases the places of connections that are still open.
  ~ConnectionListener();
  ConnectionListener(const ConnectionListener&) = delete;
  ConnectionListener& operator=(const ConnectionListener&) = delete;

  // HOST:PORT with the port that is in use.
  const std::string& address() const { return listening_.address; }

  // Begins to accept connections, which `accept` transfers to gRPC. To call
  // once. Without a watchdog no connection is closed for the memory it takes.
  void Start(SocketTransfer::Accept accept,
             std::unique_ptr<MemoryWatchdog> watchdog = nullptr);

  // Lets the kernel refuse new connections. Once this returns, none is
  // transferred any more. Open ones still count.
  void StopListening();
  // Resets the connections that are still open at `time`. To call after
  // StopListening.
  void ResetAllAt(std::chrono::steady_clock::time_point time);

 private:
  static constexpr auto kNever = std::chrono::steady_clock::time_point::max();
  enum class Asked { kListen, kStopListening, kEnd };

  ConnectionListener(ListeningSockets listening, FileDescriptor epoll,
                     FileDescriptor wake, ConnectionCount* count);

  void Ask(Asked what);
  void Run();
  void CloseListeners();
  void Handle(std::uint64_t source, std::uint32_t events);
  void AcceptSome(int listener);
  void Register(int fd);
  // Returns a second descriptor, whose end is watched; -1 = see errno.
  int KeepAndWatch(int fd) const;
  void Remove(int kept);
  void ResetIfStuck();
  void ResetAllIfTime();
  void CloseFloods();
  void Pause(int error);
  void ResumeIfTime();
  int MillisToWait() const;
  void WatchListeners(int operation, std::uint32_t events) const;
  void Warn(const std::string& message);

  ListeningSockets listening_;
  const FileDescriptor epoll_;
  const FileDescriptor wake_;
  ConnectionCount* const count_;
  std::unique_ptr<SocketTransfer> transfer_;
  std::unique_ptr<MemoryWatchdog> watchdog_;
  std::atomic<Asked> asked_ = Asked::kListen;
  std::atomic<std::chrono::steady_clock::time_point> reset_time_ = kNever;
  std::latch closed_{1};
  LogThrottle log_{/*max_lines_per_second=*/1};

  // For the thread of this object only.
  std::unordered_set<int> kept_;
  std::unordered_map<int, std::string> callers_;  // of kept_, by their address
  std::optional<std::chrono::steady_clock::time_point> resume_time_;
  std::chrono::steady_clock::time_point next_look_ = {};  // of the watchdog

  std::thread thread_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_CONNECTION_LISTENER_H_
