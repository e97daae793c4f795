// One request from its bytes to its outcome, whatever brought it: a unary call,
// a stream or JSON over HTTP.
//
//   Start    in the caller's thread: read in place, check, admit. A refused
//            request has cost one pass over its bytes and no copy of them.
//            Bytes that must be decoded first (JSON) are decoded by a worker,
//            once the request is known not to wait too long.
//   Slices   in the caller's thread while that is cheaper than a hand-over or
//            the server is idle, else in the worker pool, a slice of some
//            milliseconds each. Before each slice the run asks whether the
//            caller still waits.
//   Overload what would wait too long for a worker is refused once it is read.
//            A request is dropped, without running, when its turn comes so late
//            that it cannot meet its deadline and others wait.
//   Outcome  counters, the response's bytes, permits back, Done.
#ifndef SEMRANK_SERVER_REQUESTS_REQUEST_RUN_H_
#define SEMRANK_SERVER_REQUESTS_REQUEST_RUN_H_

#include <google/protobuf/message_lite.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "server/base/caller.h"
#include "server/base/metrics.h"
#include "server/base/work_slice.h"
#include "server/requests/server_parts.h"

namespace semrank {

class RequestRun;

// What a request needs: admission counts the texts, and both decide which
// thread runs it.
struct RequestSize {
  std::int64_t num_texts = 0;
  std::size_t num_bytes = 0;
};

// What one method does with a request: Read, then, once admitted, Advance until
// it returns kDone or an error. Called by one thread at a time, not always the
// same one.
class RequestWork {
 public:
  virtual ~RequestWork() = default;

  // Whether the server may refuse the request before it reads the bytes, when
  // not one more text fits. Not if it takes no permits, or if the refusal
  // repeats something from the bytes.
  virtual bool refused_unread() const { return true; }

  // Whose measured costs the request shares.
  virtual RequestKind kind() const { return RequestKind::kOther; }

  // Whether the request may wait for a worker however long that takes. For
  // streams whose client is held back until the response, and for operators.
  virtual bool never_shed() const { return false; }

  // Whether the request needs a loaded model.
  virtual bool needs_model() const { return true; }

  // Reads the Protobuf message in place and checks what is cheap to check.
  // `bytes` stays valid as long as the work does. Must not copy, normalise or
  // embed what is in it, since nothing is admitted yet.
  virtual absl::StatusOr<RequestSize> Read(std::string_view bytes) = 0;
  // In place of Read, for a request that is refused by its size: reads what the
  // refusal repeats. False if that cannot be read.
  virtual bool ReadForRefusal(std::string_view /*bytes*/) { return true; }

  // One slice. `run` tells who waits, and how long reading and waiting took.
  virtual absl::StatusOr<Progress> Advance(const RequestRun& run) = 0;

  // The pool in which Advance must run because it may block; null = the size
  // decides.
  virtual WorkerPool* pool() const { return nullptr; }

  // Complete after kDone.
  virtual const google::protobuf::MessageLite& response() const = 0;
};

// `parts` must outlive the work.
using MakeWork = std::unique_ptr<RequestWork> (*)(const ServerParts& parts);

// What refuses a request whatever its bytes say: the state of the server, no
// room for even one text. To be asked before the bytes are touched.
absl::Status CheckBeforeReading(const RequestWork& work,
                                const ServerParts& parts);

// Refuses a request of `num_bytes` before they are touched, if it would wait
// too long for a worker, and is not likely to be so cheap that it needs none.
absl::Status CheckWaitUnread(const RequestWork& work, const ServerParts& parts,
                             std::size_t num_bytes, absl::Duration time_left);

// A work that fills in a response of its own.
template <typename Response>
class ResponseWork : public RequestWork {
 public:
  explicit ResponseWork(const ServerParts& parts) : parts_(parts) {}
  const google::protobuf::MessageLite& response() const final {
    return response_;
  }

 protected:
  const ServerParts& parts_;
  Response response_;
};

class RequestRun : public Caller {
 public:
  // Requests above either size leave the thread that brought them, since they
  // take several slices.
  static constexpr std::int64_t kMaxInlineTexts = kSliceTexts;
  static constexpr std::size_t kMaxInlineBytes = kSliceBytes;
  // Smaller ones leave it unless they are expected to take less than this, or
  // nothing else is in flight: a thread of gRPC that works does not read, and
  // what it does not read cannot be refused. A hand-over costs 15 to 25 us, and
  // refusing a call about as much as answering such a small one.
  static constexpr absl::Duration kMaxInlineCost = absl::Microseconds(200);

  RequestRun(const RequestRun&) = delete;
  RequestRun& operator=(const RequestRun&) = delete;

  // Adds the time of reading and of waiting for a thread, so far.
  void AddOwnTimes(StageTimes& times) const;
  absl::Duration TimeSinceReceived() const;

 protected:
  // `parts` must outlive the run.
  RequestRun(const ServerParts& parts, std::unique_ptr<RequestWork> work);

  // CheckBeforeReading; an error is for Refuse.
  absl::Status CheckUnread() const {
    return CheckBeforeReading(*work_, parts_);
  }
  // An error is for Refuse.
  absl::Status CheckWaitUnread(std::size_t num_bytes) const {
    return semrank::CheckWaitUnread(*work_, parts_, num_bytes, TimeLeft());
  }
  // The same for a message that is there; reads what the refusal repeats.
  absl::Status CheckWaitUnread(std::string_view bytes) {
    const absl::Status status = CheckWaitUnread(bytes.size());
    if (status.ok() || work_->ReadForRefusal(bytes)) return status;
    return absl::OkStatus();  // Start finds out what is wrong with the message
  }
  // Leads to one Done, now or later, in this thread or another. `bytes` must
  // stay valid until then.
  void Start(std::string_view bytes);
  // As Start, with what `decode` makes of `num_bytes`, in this thread or in a
  // worker; not called for a request that would wait too long.
  using Decode = std::function<absl::StatusOr<std::string_view>()>;
  void StartDecoding(std::size_t num_bytes, Decode decode);
  // In place of Start: counts the refusal, then Done.
  void Refuse(const absl::Status& status) { Finish(status); }

  const ServerParts& parts() const { return parts_; }
  const RequestWork& work() const { return *work_; }

 private:
  // Serialises the response, while the permits are still held.
  virtual absl::Status SerializeResponse(
      const google::protobuf::MessageLite& response) = 0;
  // The end; the run may delete itself.
  virtual void Done(const absl::Status& status) = 0;

  absl::Status ReadAndAdmit(std::string_view bytes);
  bool RunsInline() const;
  absl::Duration EstimateCost() const;
  absl::Status CheckWait() const;
  WorkerPool& pool() const;
  absl::Duration TimeLeft() const { return deadline() - absl::Now(); }
  void QueueForWorker(std::function<void()> run);
  void QueueSlice() {
    QueueForWorker([this] { RunSlice(); });
  }
  absl::Status DecodeAndAdmit(const Decode& decode);
  void DecodeAndRun(const Decode& decode);
  // DeadlineExceeded if it is too late to begin.
  absl::Status CheckInTime() const;
  void RunSlice();
  absl::StatusOr<Progress> Advance();
  void Finish(const absl::Status& status);

  const ServerParts& parts_;
  const std::unique_ptr<RequestWork> work_;
  const std::chrono::steady_clock::time_point received_;
  Admission::Permit permit_;
  RequestSize size_;
  bool inline_ = false;
  absl::Duration cost_;      // as estimated
  absl::Duration run_time_;  // of the slices so far
  absl::Duration read_time_;
  absl::Duration queue_time_;
  // TimeSinceReceived when it began to wait for a thread.
  absl::Duration waiting_since_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_REQUEST_RUN_H_
