// Ends HTTP connections whose clients hold a thread for too long. civetweb
// gives each connection a thread before its first byte has come, bounds only
// how long single reads and writes take, and tells nobody its sockets; so they
// are found among the process' files by their addresses.
//
//   Waiting  a thread waits for its client: for the request's head, or until
//            the answer is taken. While more than `max_waiting` do, every
//            client that keeps the server waiting for a head kCrowdTime, or
//            takes an answer for kCrowdSendTime, is cut off.
//   Limits   whatever the crowd, a request that is in hand may have a time at
//            which it is cut off.
//   Cost     the files are only gone through while there is a crowd or a
//            limit has passed.
//   Threads  every method, from any thread.
#ifndef SEMRANK_SERVER_HTTP_CONNECTION_WATCH_H_
#define SEMRANK_SERVER_HTTP_CONNECTION_WATCH_H_

#include <cstdint>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "absl/time/time.h"
#include "model/base/mutex.h"

struct mg_connection;

namespace semrank {

class ConnectionWatch {
 public:
  static constexpr absl::Duration kCrowdTime = absl::Milliseconds(100);
  static constexpr absl::Duration kCrowdSendTime = absl::Seconds(1);

  explicit ConnectionWatch(int max_waiting) : max_waiting_(max_waiting) {}
  ~ConnectionWatch();
  ConnectionWatch(const ConnectionWatch&) = delete;
  ConnectionWatch& operator=(const ConnectionWatch&) = delete;

  // Once, when the port is known: IPv4 connections to it are watched.
  void Start(int port);

  // A connection's life: Opened first, Closed last, those between as they come.
  void Opened();                                   // waits for the head
  void HeadCame(const mg_connection* connection);  // no limit
  void BodyMayTake(const mg_connection* connection, absl::Duration time);
  void BodyCame(const mg_connection* connection);  // no limit
  void AnswerMayTake(const mg_connection* connection, absl::Duration time);
  void Closed(const mg_connection* connection);

  // Whether the client of a request in hand has closed its side: nobody is
  // taken to wait for an answer who does. Goes through the files.
  bool HasLeft(const mg_connection* connection) const;

 private:
  // IPv4 address and port, as numbers of this machine.
  using Peer = std::pair<std::uint32_t, int>;
  struct InHand {
    Peer peer;
    bool sending = false;
    absl::Time since = absl::InfiniteFuture();
    absl::Time limit = absl::InfiniteFuture();
  };

  // What one look at the sockets is for.
  struct Turn {
    bool crowd = false;
    std::map<Peer, int> overdue;
    std::set<Peer> in_hand;
  };

  void SetLimit(const mg_connection* connection, absl::Duration time,
                bool sending);
  bool crowded() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return num_heads_ + num_sending_ > max_waiting_;
  }
  bool nothing_to_watch() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return in_hand_.empty() && !crowded();
  }
  void WakeIfIdle() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  void Run();
  // Until kCrowdTime after there is something to watch; false = stop.
  bool WaitForTurn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Those whose time is up, and how to shut their sockets down.
  std::map<Peer, int> Overdue(absl::Time now) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Shuts down sockets of `turn`, and in a crowd those that were in `silent`
  // and still are. Returns who keeps the server waiting for a head.
  std::set<Peer> CutOff(const Turn& turn, const std::set<Peer>& silent) const;

  const int max_waiting_;
  int port_ = 0;

  mutable Mutex mutex_;
  CondVar changed_;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  bool idle_ ABSL_GUARDED_BY(mutex_) = false;
  int num_heads_ ABSL_GUARDED_BY(mutex_) = 0;
  int num_sending_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<const mg_connection*, InHand> in_hand_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_HTTP_CONNECTION_WATCH_H_
