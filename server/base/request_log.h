// The outcomes of requests over gRPC and HTTP. Keeps the last failures; logs
// slow requests, those that failed because of a bug of the server (INTERNAL),
// calls of methods for administrators and a sample of all.
//
//   Size     the last kMaxFailures failures.
//   Texts    of callers are never kept: the message of a failure is our own,
//            with sizes and limits.
//   Threads  thread-safe.
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

  // Fields that are empty or 0 are not known, and not logged.
  struct Details {
    std::string key = {};        // the first digits of its SHA-256
    std::string peer = {};       // "ipv4:10.0.0.7:40312"
    std::string model = {};      // "shop/3"
    std::int64_t num_texts = 0;  // as --max_inflight_texts counts them
  };
  // The outcome of one request.
  struct Outcome {
    // "semrank.v1.RankingService/Rank" or "POST /v1/rank".
    std::string_view method = {};
    RequestIdentity identity = {};
    // For a request of a stream: the caller's number for it, or its place among
    // the messages of the stream, from 1. The identity is the stream's.
    std::optional<std::uint64_t> number = {};
    absl::Status status = {};
    absl::Duration time = {};
    bool by_admin = false;  // the method is for administrators
    // What else a line says. The log calls it only for a request that is
    // logged, since it hashes the key.
    std::function<Details()> details = {};
  };
  struct Failure {
    absl::Time time;
    std::string method;
    std::string request_id;
    std::optional<std::uint64_t> number;
    absl::Status status;
  };
  // Why a request is logged. At most kMaxLinesPerSecond lines a second of each
  // reason, kMaxAccessLinesPerSecond for kAccess. A kAdmin whose call succeeded
  // is never dropped.
  enum class Reason { kSlow, kBug, kAccess, kAdmin };
  // `num_dropped` such requests were not logged since the last one.
  using LogLine = std::function<void(Reason reason, const Outcome& outcome,
                                     std::int64_t num_dropped)>;
  struct Options {
    // Requests that take this long or longer are slow; 0 = none are.
    absl::Duration slow_threshold = {};
    // Share of all requests for kAccess, 0 to 1, chosen by their ids.
    double access_share = 0;
  };

  // Without `log` failures are only kept.
  explicit RequestLog(const Options& options, LogLine log = nullptr);

  void Record(const Outcome& outcome);

  // Newest first.
  std::vector<Failure> failures() const;

 private:
  void Log(Reason reason, LogThrottle& throttle, const Outcome& outcome);

  const Options options_;
  const LogLine log_;
  LogThrottle slow_throttle_{kMaxLinesPerSecond};
  LogThrottle bug_throttle_{kMaxLinesPerSecond};
  LogThrottle access_throttle_{kMaxAccessLinesPerSecond};
  LogThrottle admin_failure_throttle_{kMaxLinesPerSecond};
  mutable Mutex mutex_;
  std::deque<Failure> failures_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_REQUEST_LOG_H_
