#include "server/http/http_server.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <list>
#include <thread>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "server/base/listening_sockets.h"
#include "server/base/logging.h"
#include "server/http/http_connection.h"
#include "server/http/http_connections.h"
#include "server/http/http_responses.h"
#include "server/http/http_stream.h"

namespace semrank {
namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;

// The time until the next attempt when descriptors or memory have run out.
constexpr std::chrono::milliseconds kAcceptRetryDelay(100);

// Asio must be given the protocol of a socket that it did not open.
Tcp Protocol(int fd) {
  int domain = AF_INET;
  socklen_t size = sizeof(domain);
  getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size);
  return domain == AF_INET6 ? Tcp::v6() : Tcp::v4();
}

}  // namespace

// The I/O thread with its acceptors and connections.
class HttpServer::Listener {
 public:
  Listener(HttpRoutes routes, const HttpServerOptions& options)
      : connections_(std::move(routes), options) {}
  ~Listener();

  absl::Status Start(const ListeningSockets& listening);
  HttpConnections& connections() { return connections_; }

 private:
  struct Port {
    Tcp::acceptor acceptor;
    asio::steady_timer retry;
  };

  void Accept(Port& port);
  void OnAccepted(Port& port, const boost::system::error_code& error,
                  Tcp::socket socket);
  // Logs and counts that a connection is closed at the limit.
  void NoteFull();
  // Makes room for one more connection; false = all have a handler running.
  bool MakeRoom();
  // Closes connections while HTTP is to free bytes of unread responses.
  void CloseUnread();
  // Follows the files; while new ones cannot be used, the old ones stay.
  absl::Status RenewTls();

  // The first member, since sockets and timers refer to it.
  asio::io_context io_{/*concurrency_hint=*/1};
  HttpConnections connections_;
  std::list<Port> ports_;
  std::shared_ptr<const TlsContent> tls_content_;
  TlsContext tls_;
  int subscription_ = 0;                     // to HttpServerOptions::unread
  std::atomic<bool> closes_unread_ = false;  // CloseUnread is queued
  std::thread thread_;
};

HttpServer::Listener::~Listener() {
  if (connections_.options.unread != nullptr) {
    connections_.options.unread->Unsubscribe(subscription_);
  }
  if (!thread_.joinable()) return;
  // Keeps the I/O thread alive for the responses of handlers that still run.
  auto guard = asio::make_work_guard(io_);
  connections_.BeginCall();
  asio::post(io_, [this] {
    for (Port& port : ports_) {
      port.acceptor.close();
      port.retry.cancel();
    }
    while (!connections_.open.empty()) (*connections_.open.begin())->Close();
    connections_.EndCall();
  });
  // Handlers that still run post their responses to the I/O thread, which must
  // be there until the last one has.
  connections_.WaitForCalls(absl::InfiniteFuture());
  connections_.stream_workers.join();
  connections_.page_workers.join();
  guard.reset();
  thread_.join();
}

absl::Status HttpServer::Listener::Start(const ListeningSockets& listening) {
  SEMRANK_RETURN_IF_ERROR(RenewTls());
  for (const FileDescriptor& socket : listening.sockets) {
    // The acceptor owns a duplicate; the caller closes the original.
    const int fd = fcntl(socket.get(), F_DUPFD_CLOEXEC, 0);
    boost::system::error_code error;
    Tcp::acceptor acceptor(io_);
    acceptor.assign(Protocol(fd), fd, error);
    if (error) return absl::UnavailableError(error.message());
    ports_.push_back({std::move(acceptor), asio::steady_timer(io_)});
    Accept(ports_.back());
  }
  if (connections_.options.unread != nullptr) {
    subscription_ = connections_.options.unread->Subscribe([this] {
      // Any thread may notify, again and again while there are too many bytes;
      // one task in the queue is enough.
      if (closes_unread_.exchange(true)) return;
      asio::post(io_, [this] { CloseUnread(); });
    });
  }
  // One thread for all connections, so that their state needs no locks.
  thread_ = std::thread([this] { io_.run(); });
  return absl::OkStatus();
}

void HttpServer::Listener::Accept(Port& port) {
  port.acceptor.async_accept(
      [this, &port](const boost::system::error_code& error,
                    Tcp::socket socket) {
        OnAccepted(port, error, std::move(socket));
      });
}

void HttpServer::Listener::OnAccepted(Port& port,
                                      const boost::system::error_code& error,
                                      Tcp::socket socket) {
  if (!port.acceptor.is_open()) return;
  if (error) {
    // Usually descriptors have run out: closing a connection that only waits
    // for its client frees one.
    MakeRoom();
    port.retry.expires_after(kAcceptRetryDelay);
    port.retry.async_wait([this, &port](const boost::system::error_code&) {
      if (port.acceptor.is_open()) Accept(port);
    });
    return;
  }
  // The server looks for new certificates for each connection, as gRPC does for
  // each handshake.
  const absl::Status renewed = RenewTls();
  if (!renewed.ok()) {
    LogError("HTTP: %s", renewed.message());
  }
  const auto max_open =
      static_cast<std::size_t>(connections_.options.max_connections);
  const bool is_full = connections_.open.size() >= max_open;
  if (is_full) NoteFull();
  // Without room the socket closes as it goes out of scope.
  if (!is_full || MakeRoom()) {
    std::make_shared<HttpConnection>(connections_, std::move(socket), tls_)
        ->Start();
  }
  Accept(port);
}

// The client of the closed connection sees a reset and no reason.
void HttpServer::Listener::NoteFull() {
  WarnThrottled(
      absl::StrFormat("HTTP: %d connections are open, the most that may be; "
                      "each new one closes one that waits for its client",
                      connections_.options.max_connections));
  if (connections_.options.connections == nullptr) return;
  connections_.options.connections->CountRefusal();
}

// The address that has most connections gives one, so that a crowd from one
// address does not close those of others. The one whose client has been silent
// for longest loses least.
bool HttpServer::Listener::MakeRoom() {
  absl::flat_hash_map<std::string, int> counts;
  for (const auto& connection : connections_.open) {
    ++counts[connection->address()];
  }
  const auto chosen = std::ranges::max_element(
      connections_.waiting, {}, [&](const HttpConnection* connection) {
        return counts[connection->address()];
      });
  if (chosen == connections_.waiting.end()) return false;
  (*chosen)->Close();
  return true;
}

void HttpServer::Listener::CloseUnread() {
  closes_unread_ = false;
  UnreadResponses& unread = *connections_.options.unread;
  while (const auto excess = unread.FindExcess()) {
    const auto found =
        std::ranges::find_if(connections_.open, [&](const auto& connection) {
          return connection->account() == excess->account.connection;
        });
    // The account is one of gRPC, which is notified too.
    if (found == connections_.open.end()) return;
    WarnThrottled(absl::StrFormat(
        "HTTP: a connection of %s was closed: it left the most bytes of "
        "responses unread, and there were too many",
        (*found)->address()));
    unread.CountEnded(1);
    (*found)->Close();
  }
}

absl::Status HttpServer::Listener::RenewTls() {
  const TlsCertificates* const certificates = connections_.options.tls;
  if (certificates == nullptr) return absl::OkStatus();
  // The object stays the same until the files change, so comparing pointers is
  // enough.
  auto content = certificates->current();
  if (std::exchange(tls_content_, content) == content) return absl::OkStatus();
  SEMRANK_ASSIGN_OR_RETURN(tls_, MakeTlsContext(*content));
  return absl::OkStatus();
}

HttpServer::HttpServer(std::unique_ptr<Listener> listener, std::string address)
    : listener_(std::move(listener)), address_(std::move(address)) {}

HttpServer::~HttpServer() = default;

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(
    const std::string& address, HttpPages pages, HttpCalls calls,
    const HttpServerOptions& options) {
  const absl::StatusOr<ListeningSockets> listening = ListenAt(address);
  if (!listening.ok()) {
    return absl::UnavailableError(
        absl::StrFormat("cannot listen for HTTP on %s (--http_address): %s",
                        address, listening.status().message()));
  }
  auto listener = std::make_unique<Listener>(
      HttpRoutes{std::move(pages), std::move(calls)}, options);
  SEMRANK_RETURN_IF_ERROR(listener->Start(*listening));
  return std::unique_ptr<HttpServer>(
      new HttpServer(std::move(listener), listening->address));
}

bool HttpServer::WaitForCalls(absl::Time limit) const {
  return listener_->connections().WaitForCalls(limit);
}

}  // namespace semrank
