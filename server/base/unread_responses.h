// Bytes of responses that clients have not read yet, over gRPC and HTTP
// together, and whose responses end while there are too many. No caller is
// refused for what others do not read.
//
//   Account  the responses of one caller on one connection.
//   Excess   over `max_bytes`, the account that holds most among those of the
//            caller that holds most is to free what is over. Each protocol
//            ends its own responses, when it is notified.
//   Threads  thread-safe.
#ifndef SEMRANK_SERVER_BASE_UNREAD_RESPONSES_H_
#define SEMRANK_SERVER_BASE_UNREAD_RESPONSES_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "model/base/mutex.h"
#include "server/base/caller.h"
#include "server/base/limits.h"

namespace semrank {

// A vector of the largest dimension that messages are sized for, for each text
// that may be in flight.
inline std::int64_t MaxUnreadBytes(const Limits& limits) {
  return limits.max_inflight_texts * 4 * kSizedEmbeddingDim;
}

class UnreadResponses {
 public:
  explicit UnreadResponses(std::int64_t max_bytes) : max_bytes_(max_bytes) {}
  UnreadResponses(const UnreadResponses&) = delete;
  UnreadResponses& operator=(const UnreadResponses&) = delete;

  // Adds bytes to the account of `caller`, or takes them off (negative) because
  // they were read or dropped. Notifies when the sum comes to exceed the limit.
  void Add(const CallerId& caller, std::int64_t bytes);

  struct Excess {
    CallerId account;
    std::int64_t num_bytes = 0;  // to free, at most what the account holds
  };
  std::optional<Excess> FindExcess() const;
  // When bytes were last taken off the account; InfinitePast if never.
  absl::Time LastProgress(const CallerId& caller) const;

  // Counts responses that ended because their clients did not read them.
  void CountEnded(std::int64_t count) { num_ended_ += count; }
  std::int64_t num_ended() const { return num_ended_; }

  std::int64_t num_bytes() const { return num_bytes_; }
  std::int64_t max_bytes() const { return max_bytes_; }

  // `notify` is called while the sum exceeds the limit, in a thread that adds
  // bytes and may hold locks: it must only wake another thread. Returns a
  // number for Unsubscribe, after which it is not called any more.
  int Subscribe(std::function<void()> notify);
  void Unsubscribe(int number);

 private:
  struct Account {
    std::int64_t num_bytes = 0;
    absl::Time last_progress = absl::InfinitePast();
  };
  // By the connection; of one caller.
  struct Accounts {
    std::int64_t num_bytes = 0;
    absl::flat_hash_map<std::string, Account> by_connection;
  };

  const std::int64_t max_bytes_;
  mutable Mutex mutex_;
  // Changed under the mutex, read without it for each call.
  std::atomic<std::int64_t> num_bytes_ = 0;
  std::atomic<std::int64_t> num_ended_ = 0;
  absl::flat_hash_map<std::string, Accounts> callers_ ABSL_GUARDED_BY(mutex_);
  // The notifying thread holds it, so that Unsubscribe waits for its end.
  Mutex notify_mutex_;
  int last_number_ ABSL_GUARDED_BY(notify_mutex_) = 0;
  std::map<int, std::function<void()>> notify_ ABSL_GUARDED_BY(notify_mutex_);
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_UNREAD_RESPONSES_H_
