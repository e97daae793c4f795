// Hands connections over to gRPC, one after another, in a thread of its own.
// gRPC 1.51 reads in the thread that hands over for as long as bytes come, and
// holds a lock that its shutdown needs: a peer that never pauses would keep all
// others out, and the server from stopping.
//
//   Reset    a connection whose hand-over takes longer than it may, while
//            others wait or the owner stops.
//   Threads  one owner calls the methods; `take` runs in the thread of this
//            object, and may block.
#ifndef SEMRANK_SERVER_RPC_HAND_OVER_H_
#define SEMRANK_SERVER_RPC_HAND_OVER_H_

#include <chrono>
#include <deque>
#include <functional>
#include <thread>

#include "model/base/mutex.h"

namespace semrank {

// Ends the connection with RST, even if other descriptors of it are open. Bytes
// that have arrived are discarded; after shutdown(2) they could still be read.
void ResetConnection(int fd);

class HandOver {
 public:
  // Many times what a handshake takes, on a busy machine too.
  static constexpr std::chrono::milliseconds kMaxTime{1000};

  // Takes ownership of a connected, non-blocking socket.
  using Take = std::function<void(int fd)>;

  explicit HandOver(Take take, std::chrono::milliseconds max_time = kMaxTime);
  ~HandOver() { Stop(); }

  // Takes ownership of `fd`; `kept` is the owner's own descriptor of the same
  // connection, and stays open until it is forgotten.
  void Add(int fd, int kept);
  // The connection has ended: if it waits still, it is not handed over.
  void Forget(int kept);

  // Whether there is something to do, so that ResetIfStuck should be called now
  // and then.
  bool busy() const;
  // True if it has reset the connection whose turn it is.
  bool ResetIfStuck();

  // `take` is not called any more once this returns, which takes little longer
  // than the time that a hand-over may take. Those that wait are reset.
  void Stop();

 private:
  struct Connection {
    int fd;
    int kept;
  };

  void Run();

  const Take take_;
  const std::chrono::milliseconds max_time_;
  mutable Mutex mutex_;
  CondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool taking_ ABSL_GUARDED_BY(mutex_) = false;
  // Of the one that is taken; -1 = none, or it has ended.
  int kept_ ABSL_GUARDED_BY(mutex_) = -1;
  std::chrono::steady_clock::time_point began_ ABSL_GUARDED_BY(mutex_);
  std::deque<Connection> waiting_ ABSL_GUARDED_BY(mutex_);

  std::thread thread_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_HAND_OVER_H_
