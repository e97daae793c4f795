// The client that waits for a response, and its deadline. A request checks both
// between two slices, and stops when no client waits any more.
//
//   Threads  thread-safe, as long as the call lasts.
#ifndef SEMRANK_SERVER_BASE_CALLER_H_
#define SEMRANK_SERVER_BASE_CALLER_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/base/errors.h"

namespace semrank {

class Caller {
 public:
  virtual ~Caller() = default;
  // InfiniteFuture when the caller set none.
  virtual absl::Time deadline() const = 0;
  // True once the caller has cancelled the call or closed its connection. Cheap
  // enough to ask every few hundred microseconds.
  virtual bool cancelled() const = 0;
  // Its name for fair shares (auth/caller_name.h); empty = the server itself.
  virtual std::string_view name() const { return {}; }
};

// Who makes a call, and where it comes from.
struct CallerId {
  std::string name = {};        // as Caller::name
  std::string connection = {};  // the peer: "ipv4:10.0.0.7:40312"
};

// The server itself, for background work: no deadline, never cancelled.
class BackgroundCaller final : public Caller {
 public:
  absl::Time deadline() const override { return absl::InfiniteFuture(); }
  bool cancelled() const override { return false; }
};

// DeadlineExceeded or Cancelled when no caller waits for the result any more.
inline absl::Status CheckStillWanted(const Caller& caller) {
  if (absl::Now() >= caller.deadline()) {
    return MakeError(absl::StatusCode::kDeadlineExceeded, "DEADLINE_EXCEEDED",
                     "the call's deadline has passed");
  }
  if (caller.cancelled()) {
    return MakeError(absl::StatusCode::kCancelled, "CANCELLED",
                     "the call was cancelled");
  }
  return absl::OkStatus();
}

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_CALLER_H_
