// A connection on which a load sends its Rank calls: as unary calls, or as the
// requests of one stream.
//
//   Events   what a lane begins ends as an event of the queue: its tag is a
//            LoadEvent, to be handled by one thread.
//   Threads  Send and Close from any one thread at a time, beside the one that
//            handles events.
#ifndef SEMRANK_CLIENT_LOAD_LOAD_LANE_H_
#define SEMRANK_CLIENT_LOAD_LOAD_LANE_H_

#include <grpcpp/completion_queue.h>

#include <chrono>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/lib/client_options.h"
#include "semrank/v1/ranking_service.pb.h"

namespace semrank {

class LoadEvent {
 public:
  virtual ~LoadEvent() = default;
  // `ok` is the queue's.
  virtual void Handle(bool ok) = 0;
};

// One call, from Send to its answer. It stays where it is meanwhile.
struct LoadCall {
  std::chrono::steady_clock::time_point due;
  absl::Status status;  // how it ended
};

class LoadLane {
 public:
  // Called while an event is handled. The call may be sent once more.
  using Answered = std::function<void(LoadCall&)>;

  // `options` are good (CheckOptions); `queue` and what `answered` refers to
  // outlive the lane, which outlives its events. The deadline of the options is
  // that of a call; a stream ends at `end` by itself.
  static std::unique_ptr<LoadLane> OfCalls(const ClientOptions& options,
                                           grpc::CompletionQueue* queue,
                                           Answered answered);
  static std::unique_ptr<LoadLane> OfOneStream(const ClientOptions& options,
                                               grpc::CompletionQueue* queue,
                                               Answered answered,
                                               absl::Time end);
  virtual ~LoadLane() = default;

  // The request is taken over before this returns. Leads to one `answered`.
  virtual void Send(const v1::RankRequest& request, LoadCall& call) = 0;

  // Once every call is answered; closed once the events that follow have been
  // handled.
  virtual void Close() {}
  virtual bool is_closed() const { return true; }
};

}  // namespace semrank

#endif  // SEMRANK_CLIENT_LOAD_LOAD_LANE_H_
