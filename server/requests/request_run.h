// The walk of a request, whatever brought it: a unary call, a message of a
// stream or JSON over HTTP. Each step is cheaper than what it may spare the
// server; the first one that fails makes the outcome.
//
//   CheckKey      the caller's key allows the method. (gRPC has checked the
//                 size of the metadata before.)
//   CheckUnread   the server answers, one more text fits (also within the share
//                 of the caller), a worker is expected soon enough. It comes
//                 before the bytes are read or copied.
//   Read          the handler reads the bytes in place, once, chooses the model
//                 and checks the fields.
//   CheckWait     as before, with the exact number of texts.
//   Admit         all texts fit beside those in flight, and the caller's within
//                 its share.
//   RunSlice      in the caller's thread while that is cheaper than a queue
//                 or the server is idle, else in the worker pool, a slice of
//                 some milliseconds each. Before each slice the run asks
//                 whether the caller still waits. A request is dropped, without
//                 running, when its turn comes so late that it cannot meet its
//                 deadline and others wait. A request that waits for a disk
//                 (Progress::kWaiting) holds neither a thread nor permits.
//   SerializeResponse   while the permits are still held.
//   Done          after the refusal is counted and the permits are back.
//
// Bytes that must be decoded first (JSON) are decoded between CheckUnread and
// Read: by a worker, unless the request is likely to be cheap or the server is
// idle.
#ifndef SEMRANK_SERVER_REQUESTS_REQUEST_RUN_H_
#define SEMRANK_SERVER_REQUESTS_REQUEST_RUN_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "server/base/caller.h"
#include "server/base/phase_times.h"
#include "server/base/request_log.h"
#include "server/base/work_slice.h"
#include "server/requests/methods.h"
#include "server/requests/server_parts.h"

namespace google::protobuf {
class MessageLite;
}  // namespace google::protobuf

namespace semrank {

// `authorization` is the header of that name; empty = none.
absl::Status CheckKey(const Method& method, const ServerParts& parts,
                      std::string_view authorization);

// UNAVAILABLE while the server does not answer calls of the method.
absl::Status CheckState(const Method& method, const ServerParts& parts);

// What is known of a request before its bytes are read.
struct UnreadRequest {
  std::size_t num_bytes = 0;
  absl::Duration time_left = absl::InfiniteDuration();
  std::string_view caller = {};  // Caller::name
};

// DEADLINE_EXCEEDED for a request whose deadline has passed when it arrives;
// CheckState; then OVERLOADED or CALLER_SHARE for a request without room for
// one text, or one that would wait too long for a worker and is not likely to
// be so cheap that it needs none.
absl::Status CheckUnread(const Method& method, const ServerParts& parts,
                         const UnreadRequest& request);

// The steps from Read on. Has no owner: a subclass may delete itself in Done.
class RequestRun : public Caller {
 public:
  // Requests above either size leave the thread that brought them, since they
  // take several slices.
  static constexpr std::int64_t kMaxInlineTexts = kSliceTexts;
  static constexpr std::size_t kMaxInlineBytes = kSliceBytes;
  // Smaller ones leave it unless they are expected to take less than this, or
  // nothing else is in flight: a thread of gRPC that works does not read, and
  // what it does not read cannot be refused. A queue costs 15 to 25 us, and
  // refusing a call about as much as answering such a small one.
  static constexpr absl::Duration kMaxInlineCost = absl::Microseconds(200);

  RequestRun(const RequestRun&) = delete;
  RequestRun& operator=(const RequestRun&) = delete;

  // Adds the time of reading and of waiting for a thread, so far.
  void AddOwnTimes(PhaseTimes& times) const;
  absl::Duration TimeSinceReceived() const;

 protected:
  // `method` and `parts` must outlive the run. A null handler must be set
  // before Start.
  RequestRun(const Method& method, const ServerParts& parts,
             std::unique_ptr<RequestHandler> handler);

  // Each of these leads to one Done, now or later, in this thread or another.
  // `bytes` must stay valid until then.
  void Start(std::string_view bytes);
  // As Start, with what `decode` makes of `num_bytes`, in a worker, or in this
  // thread if the run is expected to keep it for at most `max_time`; not called
  // for a request that would wait too long.
  using Decode = std::function<absl::StatusOr<std::string_view>()>;
  void StartDecoding(std::size_t num_bytes, absl::Duration max_time,
                     Decode decode);
  // Instead of Start, for a request that is refused unread.
  void Refuse(const absl::Status& status) { Finish(status); }

  const ServerParts& parts() const { return parts_; }
  const Method& method() const { return method_; }
  RequestHandler& handler() { return *handler_; }
  void SetHandler(std::unique_ptr<RequestHandler> handler) {
    handler_ = std::move(handler);
  }
  absl::Duration TimeLeft() const { return deadline() - absl::Now(); }
  // Adds the model that answered and the texts to what the log says.
  RequestLog::Details Describe(RequestLog::Details details) const;

 private:
  virtual absl::Status SerializeResponse(
      const google::protobuf::MessageLite& response) = 0;
  // Ends the run, which may delete itself.
  virtual void Done(const absl::Status& status) = 0;

  absl::Status ReadAndAdmit(std::string_view bytes);
  absl::Status DecodeAndAdmit(const Decode& decode);
  void DecodeAndRun(const Decode& decode);
  bool RunsInline() const;
  absl::Duration EstimateCost() const;
  // CheckWait, and takes the caller's share of the workers' time.
  absl::Status TakeWork();
  // DeadlineExceeded if it is too late to begin.
  absl::Status CheckInTime() const;
  void QueueForWorker(std::function<void()> run);
  void QueueSlice() {
    QueueForWorker([this] { RunSlice(); });
  }
  void RunSlice();
  absl::StatusOr<Progress> RunHandler();
  void Finish(const absl::Status& status);

  const Method& method_;
  const ServerParts& parts_;
  std::unique_ptr<RequestHandler> handler_;
  const std::chrono::steady_clock::time_point received_;
  Admission::Permit permit_;
  HeldShare work_;
  RequestSize size_;
  std::int64_t guessed_texts_ = 0;  // of a body; 0 = none was decoded
  bool inline_ = false;
  absl::Duration cost_;      // estimated
  absl::Duration run_time_;  // of the slices so far
  // What an inline decoding took; a worker counts its own as run_time_.
  absl::Duration decode_time_;
  absl::Duration read_time_;
  absl::Duration queue_time_;
  // TimeSinceReceived when it began to wait for a thread.
  absl::Duration waiting_since_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_REQUEST_RUN_H_
