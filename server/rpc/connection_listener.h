// Accepts TCP connections for gRPC, counts those that are open and closes those
// beyond the limit. gRPC 1.51 bounds nothing, and its own listener never
// accepts again after one accept that finds no free descriptor.
//
//   Counted  from accept until the socket is shut down in both directions, by
//            its owner or by a reset. A connection whose peer has only ended
//            its own side still counts. To see the end, the listener keeps a
//            second descriptor of each socket.
//   Refused  closed at once, counted, logged at most once a second.
//   Reset    a connection that sends without a pause from its beginning and so
//            keeps others from being handed over; with a watchdog, those that
//            flood the server's memory.
//   Shortage of descriptors or memory: connections wait in the kernel, and the
//            listener tries again ten times a second.
//   Threads  its own, and one of HandOver's; call the methods from one thread.
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
#include <unordered_set>

#include "absl/status/statusor.h"
#include "model/base/file_descriptor.h"
#include "server/base/connection_count.h"
#include "server/base/listening_sockets.h"
#include "server/base/log_throttle.h"
#include "server/rpc/hand_over.h"
#include "server/rpc/memory_watchdog.h"

namespace semrank {

class ConnectionListener {
 public:
  // Connections wait in the kernel from here on. `count` must outlive the
  // listener. Errors as ListenAt.
  static absl::StatusOr<std::unique_ptr<ConnectionListener>> Listen(
      const std::string& address, ConnectionCount* count);
  // Releases the places of connections that are still open.
  ~ConnectionListener();
  ConnectionListener(const ConnectionListener&) = delete;
  ConnectionListener& operator=(const ConnectionListener&) = delete;

  // HOST:PORT with the port that is in use.
  const std::string& address() const { return listening_.address; }

  // Once: hands over what comes, and has come, from now on. Without a watchdog
  // no connection is closed for the memory it takes.
  void Start(HandOver::Take take,
             std::unique_ptr<MemoryWatchdog> watchdog = nullptr);

  // New connections are refused by the kernel, and none is handed over any more
  // once this returns. Open ones are counted on.
  void StopListening();
  // After StopListening: resets the connections that are still open at `time`.
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
  void TakeIn(int fd);
  // A second descriptor that is watched for the end; -1 = errno says why not.
  int KeepAndWatch(int fd) const;
  void Forget(int kept);
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
  std::unique_ptr<HandOver> hand_over_;
  std::unique_ptr<MemoryWatchdog> watchdog_;
  std::atomic<Asked> asked_ = Asked::kListen;
  std::atomic<std::chrono::steady_clock::time_point> reset_time_ = kNever;
  std::latch closed_{1};
  LogThrottle log_{/*max_lines_per_second=*/1};

  // The thread's own.
  std::unordered_set<int> kept_;
  std::optional<std::chrono::steady_clock::time_point> resume_time_;
  std::chrono::steady_clock::time_point next_look_ = {};  // of the watchdog

  std::thread thread_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_CONNECTION_LISTENER_H_
