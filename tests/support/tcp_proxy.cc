#include "tests/support/tcp_proxy.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>

namespace semrank {
namespace {

constexpr std::chrono::milliseconds kDripTime{5};
constexpr std::string_view kNoProtocol = "\xff\x01?garbage\r\n*3\r\n$-7\r\n";

sockaddr_in Loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

bool SendAll(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace

TcpProxy::TcpProxy(int server_port) : server_port_(server_port) {
  listener_ = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof(address);
  if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(listener_, 16) != 0 ||
      getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) !=
          0) {
    abort();
  }
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { Accept(); });
}

TcpProxy::~TcpProxy() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
    shutdown(listener_, SHUT_RDWR);
    for (const int fd : sockets_) shutdown(fd, SHUT_RDWR);
  }
  stopped_.NotifyAll();
  acceptor_.join();
  for (std::thread& copier : copiers_) copier.join();
  MutexLock lock(mutex_);
  for (const int fd : sockets_) close(fd);
  close(listener_);
}

void TcpProxy::Accept() {
  for (;;) {
    const int client = accept(listener_, nullptr, nullptr);
    if (client < 0) return;
    const int server = socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in address = Loopback(server_port_);
    const bool connected =
        connect(server, reinterpret_cast<const sockaddr*>(&address),
                sizeof(address)) == 0;
    MutexLock lock(mutex_);
    sockets_.insert(sockets_.end(), {client, server});
    if (stop_ || !connected) {
      shutdown(client, SHUT_RDWR);
      continue;
    }
    copiers_.emplace_back([=, this] { Copy(client, server, false); });
    copiers_.emplace_back([=, this] { Copy(server, client, true); });
  }
}

void TcpProxy::Copy(int from, int to, bool answers) {
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t count = recv(from, buffer.data(), buffer.size(), 0);
    if (count <= 0) break;
    const std::string_view bytes(buffer.data(),
                                 static_cast<std::size_t>(count));
    if (!(answers ? SendAnswer(to, bytes) : SendAll(to, bytes))) break;
  }
  shutdown(to, SHUT_RDWR);
}

bool TcpProxy::SendAnswer(int to, std::string_view bytes) {
  if (answers_ == Answers::kGarbage) return SendAll(to, kNoProtocol);
  if (answers_ == Answers::kArrays) {
    return SendAll(to, "*100000000\r\n*100000000\r\n*100000000\r\n");
  }
  while (answers_ == Answers::kDrip && !bytes.empty()) {
    if (!SendAll(to, bytes.substr(0, 1))) return false;
    bytes.remove_prefix(1);
    MutexLock lock(mutex_);
    if (stop_) return false;
    stopped_.WaitFor(mutex_, kDripTime);
  }
  return SendAll(to, bytes);
}

}  // namespace semrank
