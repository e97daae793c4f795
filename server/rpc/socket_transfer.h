// Lets a gRPC server serve the connections that a ConnectionListener accepts:
// they are transferred one after another, in a thread of their own. gRPC 1.51
// reads in that thread for as long as bytes arrive, and holds a lock that its
// shutdown needs: a peer that never pauses would block all others, and keep the
// server from stopping.
//
//   Reset    a connection is reset if its transfer exceeds the limit while
//            others wait or the owner stops.
//   Threads  one owner calls the methods; `accept` runs in the thread of this
//            object, and may block.
#ifndef SEMRANK_SERVER_RPC_SOCKET_TRANSFER_H_
#define SEMRANK_SERVER_RPC_SOCKET_TRANSFER_H_

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <thread>

#include "absl/time/time.h"
#include "model/base/mutex.h"

namespace grpc {
class ServerBuilder;
class ServerCredentials;
}  // namespace grpc

namespace semrank {

// Ends the connection with RST, even if other descriptors of it are open. Bytes
// that have arrived are discarded; after shutdown(2) they could still be read.
void ResetConnection(int fd);

class SocketTransfer {
 public:
  // Handshakes take a small part of this, on a busy machine too.
  static constexpr std::chrono::milliseconds kMaxTime{1000};

  // Takes ownership of a connected, non-blocking socket.
  using Accept = std::function<void(int fd)>;

  explicit SocketTransfer(Accept accept,
                          std::chrono::milliseconds max_time = kMaxTime);
  ~SocketTransfer() { Stop(); }

  // Takes ownership of `fd`; `kept` is the owner's own descriptor of the same
  // connection, and stays open until Remove.
  void Add(int fd, int kept);
  // The connection has ended: if it still waits, it is not transferred.
  void Remove(int kept);

  // Whether a connection waits or is being transferred, so that ResetIfStuck
  // should be called now and then.
  bool busy() const;
  // Resets the connection that is being transferred if it exceeds the limit
  // while others wait; true if it did.
  bool ResetIfStuck();

  // Resets the connections that wait. `accept` is not called any more once this
  // returns, which takes little longer than a transfer may.
  void Stop();

 private:
  struct Connection {
    int fd;
    int kept;
  };

  void Run();

  const Accept accept_;
  const std::chrono::milliseconds max_time_;
  mutable Mutex mutex_;
  CondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool accepting_ ABSL_GUARDED_BY(mutex_) = false;
  // The descriptor of the connection that is being transferred; -1 = none, or
  // it has ended.
  int kept_ ABSL_GUARDED_BY(mutex_) = -1;
  std::chrono::steady_clock::time_point began_ ABSL_GUARDED_BY(mutex_);
  std::deque<Connection> waiting_ ABSL_GUARDED_BY(mutex_);

  std::thread thread_;
};

// How long a peer may take for the handshakes of TLS and HTTP/2. With gRPC's
// own two minutes, silent connections would occupy their places for as long.
inline constexpr absl::Duration kHandshakeTimeout = absl::Seconds(20);

// How long a connection may stay open. Clients connect again without losing a
// call, and then find new replicas; peers that make no calls do not hold a
// place for ever.
inline constexpr absl::Duration kMaxConnectionAge = absl::Hours(1);

// Replaces the server's own listening port. The result is for
// ConnectionListener::Start once the server runs, and must not be called once
// it is shut down. gRPC closes connections whose handshakes exceed
// `handshake_timeout`.
SocketTransfer::Accept AcceptExternalConnections(
    grpc::ServerBuilder& builder,
    std::shared_ptr<grpc::ServerCredentials> credentials,
    absl::Duration handshake_timeout);

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_SOCKET_TRANSFER_H_
