// The server's side of connections that a test makes with PlainClient.
#ifndef SEMRANK_TESTS_SUPPORT_TCP_LISTENER_H_
#define SEMRANK_TESTS_SUPPORT_TCP_LISTENER_H_

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string>

#include "model/base/file_descriptor.h"

namespace semrank {

class TcpListener {
 public:
  TcpListener() {
    sockaddr_in here = {};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(here);
    auto* const address = reinterpret_cast<sockaddr*>(&here);
    EXPECT_EQ(bind(socket_.get(), address, size), 0);
    EXPECT_EQ(listen(socket_.get(), 8), 0);
    EXPECT_EQ(getsockname(socket_.get(), address, &size), 0);
    address_ = "127.0.0.1:" + std::to_string(ntohs(here.sin_port));
  }

  const std::string& address() const { return address_; }
  // Waits for the next client; the descriptor is the caller's.
  int Accept() const { return accept(socket_.get(), nullptr, nullptr); }

 private:
  const FileDescriptor socket_ = FileDescriptor::Own(
      socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "listener");
  std::string address_;
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_SUPPORT_TCP_LISTENER_H_
