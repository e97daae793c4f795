// Remembers requests that went wrong, and tells of those that took long.
//
//   Size     the last kMaxFailures failures.
//   Texts    never: a failure's message is our own, with sizes and limits.
//   Threads  every method, from any thread.
#ifndef SEMRANK_SERVER_CORE_REQUEST_LOG_H_
#define SEMRANK_SERVER_CORE_REQUEST_LOG_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "model/base/mutex.h"
#include "server/core/log_throttle.h"
#include "server/core/request_identity.h"

namespace semrank {

class RequestLog {
 public:
  static constexpr std::size_t kMaxFailures = 20;
  static constexpr int kMaxLinesPerSecond = 10;

  struct Failure {
    absl::Time time;
    std::string method;
    std::string request_id;
    absl::Status status;
  };

  // Requests that take `slow_threshold` or longer give one line to `write`, at
  // most kMaxLinesPerSecond a second; 0 = none do.
  RequestLog(absl::Duration slow_threshold,
             std::function<void(const std::string& line)> write);

  // `method` as "semrank.v1.RankingService/Rank" or "POST /v1/rank".
  void Record(std::string_view method, const RequestIdentity& identity,
              const absl::Status& status, absl::Duration time);

  // Newest first.
  std::vector<Failure> failures() const;

 private:
  const absl::Duration slow_threshold_;
  const std::function<void(const std::string& line)> write_;
  LogThrottle throttle_{kMaxLinesPerSecond};
  mutable Mutex mutex_;
  std::deque<Failure> failures_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CORE_REQUEST_LOG_H_
