// A TCP client without gRPC, as probes and hostile ones are.
#ifndef SEMRANK_TESTS_SUPPORT_PLAIN_CLIENT_H_
#define SEMRANK_TESTS_SUPPORT_PLAIN_CLIENT_H_

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <utility>

namespace semrank {

class PlainClient {
 public:
  PlainClient() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  // `address` is HOST:PORT; connects to PORT on this machine.
  explicit PlainClient(const std::string& address) : PlainClient() {
    Connect(address);
  }
  PlainClient(PlainClient&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)) {}
  ~PlainClient() {
    if (fd_ >= 0) close(fd_);
  }

  bool Connect(const std::string& address) {
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(
        std::stoi(address.substr(address.rfind(':') + 1))));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof(to)) == 0;
  }
  // To call before Connect: the client's own address, such as 127.0.0.2.
  bool Bind(const char* source) {
    sockaddr_in from = {};
    from.sin_family = AF_INET;
    inet_pton(AF_INET, source, &from.sin_addr);
    return bind(fd_, reinterpret_cast<sockaddr*>(&from), sizeof(from)) == 0;
  }
  // Waits for a byte; 0 = the other side has ended or reset the connection.
  char Read() {
    char byte = 0;
    return recv(fd_, &byte, 1, 0) == 1 ? byte : '\0';
  }
  bool Send(const std::string& bytes) {
    return send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }
  // Waits for `size` bytes; fewer when the other side ends before.
  std::string Read(std::size_t size) {
    std::string bytes(size, '\0');
    const ssize_t received = recv(fd_, bytes.data(), size, MSG_WAITALL);
    bytes.resize(received < 0 ? 0 : received);
    return bytes;
  }
  std::string ReadToEnd() {
    std::string all;
    for (std::string piece; !(piece = Read(4'096)).empty();) all += piece;
    return all;
  }
  // Whether the other side has neither sent anything nor ended.
  bool IsOpen() const {
    char byte = 0;
    return recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
  }
  // Ends this side only.
  void EndSending() { shutdown(fd_, SHUT_WR); }
  // Drops the connection without a word, so that the other side gets a reset.
  void Reset() {
    const linger at_once = {.l_onoff = 1, .l_linger = 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_SUPPORT_PLAIN_CLIENT_H_
