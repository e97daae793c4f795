// Stands between a client and a server on this machine and spoils what the
// server answers, as a test wishes.
#ifndef SEMRANK_TESTS_SUPPORT_TCP_PROXY_H_
#define SEMRANK_TESTS_SUPPORT_TCP_PROXY_H_

#include <atomic>
#include <string_view>
#include <thread>
#include <vector>

#include "model/base/mutex.h"

namespace semrank {

class TcpProxy {
 public:
  enum class Answers {
    kPass,
    kDrip,     // a byte every few milliseconds
    kGarbage,  // bytes of no protocol instead
    kArrays,   // of Redis, nested, each of 100 million elements
  };

  explicit TcpProxy(int server_port);
  // Cuts all connections.
  ~TcpProxy();
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  int port() const { return port_; }
  void Spoil(Answers answers) { answers_ = answers; }
  // Connects clients that come later to another server. Connections that are
  // open stay with theirs.
  void SwitchTo(int server_port) { server_port_ = server_port; }

 private:
  void Accept();
  void Copy(int from, int to, bool answers);
  bool SendAnswer(int to, std::string_view bytes);

  std::atomic<int> server_port_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<Answers> answers_ = Answers::kPass;
  Mutex mutex_;
  CondVar stopped_;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<int> sockets_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> copiers_;  // of the accepting thread
  std::thread acceptor_;
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_SUPPORT_TCP_PROXY_H_
