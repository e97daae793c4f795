#include "server/rpc/socket_transfer.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

namespace semrank {

void ResetConnection(int fd) {
  // A connect to AF_UNSPEC dissolves the association, and Linux then sends RST.
  const sockaddr no_peer = {.sa_family = AF_UNSPEC, .sa_data = {}};
  // It fails for a connection that is closed already.
  static_cast<void>(connect(fd, &no_peer, sizeof(no_peer)));
}

SocketTransfer::SocketTransfer(Accept accept,
                               std::chrono::milliseconds max_time)
    : accept_(std::move(accept)),
      max_time_(max_time),
      thread_([this] { Run(); }) {}

void SocketTransfer::Add(int fd, int kept) {
  MutexLock lock(mutex_);
  waiting_.push_back({fd, kept});
  changed_.NotifyAll();
}

// The listener closes `kept` next, and the system may give its number to
// another connection: nothing here may refer to it any more.
void SocketTransfer::Remove(int kept) {
  MutexLock lock(mutex_);
  if (kept_ == kept) kept_ = -1;
  std::erase_if(waiting_, [kept](const Connection& connection) {
    if (connection.kept == kept) close(connection.fd);
    return connection.kept == kept;
  });
}

bool SocketTransfer::busy() const {
  MutexLock lock(mutex_);
  return accepting_ || !waiting_.empty();
}

bool SocketTransfer::ResetIfStuck() {
  MutexLock lock(mutex_);
  if (kept_ < 0 || waiting_.empty() ||
      std::chrono::steady_clock::now() < began_ + max_time_) {
    return false;
  }
  // At most once for each: accept_ returns soon after, and clears the rest.
  ResetConnection(std::exchange(kept_, -1));
  return true;
}

void SocketTransfer::Stop() {
  if (!thread_.joinable()) return;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
    // Clients notice a reset at once; after a close they would wait for an
    // answer.
    for (const Connection& connection : waiting_) {
      ResetConnection(connection.fd);
      close(connection.fd);
    }
    waiting_.clear();
    const auto now = [] { return std::chrono::steady_clock::now(); };
    const auto deadline = now() + max_time_;
    // An honest handshake ends by itself; after that the peer is reset too.
    while (accepting_ && now() < deadline) {
      changed_.WaitFor(mutex_, deadline - now());
    }
    if (kept_ >= 0) ResetConnection(kept_);
  }
  thread_.join();
}

void SocketTransfer::Run() {
  MutexLock lock(mutex_);
  while (!stopping_) {
    if (waiting_.empty()) {
      changed_.Wait(mutex_);
      continue;
    }
    const Connection next = waiting_.front();
    waiting_.pop_front();
    accepting_ = true;
    kept_ = next.kept;
    began_ = std::chrono::steady_clock::now();
    // gRPC may read here for as long as the peer sends.
    mutex_.Unlock();
    accept_(next.fd);
    mutex_.Lock();
    accepting_ = false;
    kept_ = -1;
    changed_.NotifyAll();
  }
}

SocketTransfer::Accept AcceptExternalConnections(
    grpc::ServerBuilder& builder,
    std::shared_ptr<grpc::ServerCredentials> credentials,
    absl::Duration handshake_timeout) {
  builder.AddChannelArgument(
      GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
      static_cast<int>(absl::ToInt64Milliseconds(handshake_timeout)));
  using Builder = grpc::ServerBuilder::experimental_type;
  // gRPC returns a unique_ptr, and std::function must be able to copy what it
  // captures.
  const std::shared_ptr<grpc::experimental::ExternalConnectionAcceptor>
      acceptor = builder.experimental().AddExternalConnectionAcceptor(
          Builder::ExternalConnectionType::FROM_FD, std::move(credentials));
  return [acceptor](int fd) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters
        connection;
    connection.fd = fd;
    acceptor->HandleNewConnection(&connection);
  };
}

}  // namespace semrank
