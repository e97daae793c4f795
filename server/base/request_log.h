// Remembers requests that went wrong; tells of those that took long, and of
// those that failed by a bug of ours (INTERNAL). Every outcome comes here with
// its request's id, whoever brought the request.
//
//   Size     the last kMaxFailures failures.
//   Texts    never: a failure's message is our own, with sizes and limits.
//   Threads  every method, from any thread.
#ifndef SEMRANK_SERVER_BASE_REQUEST_LOG_H_
#define SEMRANK_SERVER_BASE_REQUEST_LOG_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "model/base/mutex.h"
#include "server/base/log_throttle.h"
#include "server/base/request_identity.h"

namespace semrank {

class RequestLog {
 public:
  static constexpr std::size_t kMaxFailures = 20;
  static constexpr int kMaxLinesPerSecond = 10;

  // What came of one request.
  struct Outcome {
    // "semrank.v1.RankingService/Rank" or "POST /v1/rank".
    std::string_view method = {};
    RequestIdentity identity = {};
    // Of a request of a stream: what the caller numbers it with, or which of
    // the stream's messages it was, from 1. The identity is the stream's.
    std::optional<std::uint64_t> number = {};
    absl::Status status = {};
    absl::Duration time = {};
  };
  struct Failure {
    absl::Time time;
    std::string method;
    std::string request_id;
    std::optional<std::uint64_t> number;
    absl::Status status;
  };
  // `num_dropped` such requests were not told since the last one.
  using Tell =
      std::function<void(const Outcome& outcome, std::int64_t num_dropped)>;
  // At most kMaxLinesPerSecond a second each; empty = nobody is told.
  struct Tellers {
    Tell slow = {};
    Tell bug = {};
  };

  // Slow are requests that take `slow_threshold` or longer; 0 = none are.
  RequestLog(absl::Duration slow_threshold, Tellers tellers);

  void Record(const Outcome& outcome);

  // Newest first.
  std::vector<Failure> failures() const;

 private:
  const absl::Duration slow_threshold_;
  const Tellers tellers_;
  LogThrottle slow_throttle_{kMaxLinesPerSecond};
  LogThrottle bug_throttle_{kMaxLinesPerSecond};
  mutable Mutex mutex_;
  std::deque<Failure> failures_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_REQUEST_LOG_H_
