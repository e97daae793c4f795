// Remembers failed requests; logs slow ones, those that failed because of a bug
// of the server (INTERNAL), every call of an administrator and a sample of all.
// Every outcome of gRPC and HTTP is recorded
// here with its request's id.
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
  static constexpr int kMaxAccessLinesPerSecond = 1'000;

  // What came of one request.
  struct Outcome {
    // "semrank.v1.RankingService/Rank" or "POST /v1/rank".
    std::string_view method = {};
    RequestIdentity identity = {};
    // For a request of a stream: the caller's number for it, or which of
    // the stream's messages it was, from 1. The identity is the stream's.
    std::optional<std::uint64_t> number = {};
    absl::Status status = {};
    absl::Duration time = {};
    // Who made a call that only administrators may make; empty = another call.
    std::string_view actor = {};
  };
  struct Failure {
    absl::Time time;
    std::string method;
    std::string request_id;
    std::optional<std::uint64_t> number;
    absl::Status status;
  };
  // `num_dropped` such requests were not logged since the last one.
  using LogLine =
      std::function<void(const Outcome& outcome, std::int64_t num_dropped)>;
  // At most kMaxLinesPerSecond a second each, `access`
  // kMaxAccessLinesPerSecond; empty = not logged.
  struct Loggers {
    LogLine slow = {};
    LogLine bug = {};
    LogLine access = {};
    LogLine admin = {};  // never dropped
  };
  struct Options {
    // Requests that take this long or longer are slow; 0 = none are.
    absl::Duration slow_threshold = {};
    // Share of all requests for `access`, 0 to 1, chosen by their ids.
    double access_share = 0;
  };

  RequestLog(const Options& options, Loggers loggers);

  void Record(const Outcome& outcome);

  // Newest first.
  std::vector<Failure> failures() const;

 private:
  const Options options_;
  const Loggers loggers_;
  LogThrottle slow_throttle_{kMaxLinesPerSecond};
  LogThrottle bug_throttle_{kMaxLinesPerSecond};
  LogThrottle access_throttle_{kMaxAccessLinesPerSecond};
  mutable Mutex mutex_;
  std::deque<Failure> failures_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_REQUEST_LOG_H_
