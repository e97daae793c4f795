// One request from its bytes to its outcome; the same for unary calls and
// for the requests of a stream.
//
//   start    in the caller's thread: is the server answering, has it room for
//            even one text; count, admit, Read
//   turns    there, or in the worker pool for a large request, where the
//            requests take turns; before each: does the caller still wait
//   outcome  counters, the answer's bytes, permit back, Done
#ifndef SEMRANK_SERVER_REQUESTS_REQUEST_RUN_H_
#define SEMRANK_SERVER_REQUESTS_REQUEST_RUN_H_

#include <google/protobuf/message_lite.h>

#include <chrono>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "server/base/caller.h"
#include "server/base/metrics.h"
#include "server/requests/request_work.h"
#include "server/requests/rpc_environment.h"

namespace semrank {

class RequestRun : public Caller {
 public:
  // Requests above either size leave the thread that brought them. Below, they
  // take at most a few milliseconds even when nothing is cached, and the switch
  // of threads would cost more than most of them.
  static constexpr std::int64_t kMaxInlineTexts = kSliceTexts;
  static constexpr std::size_t kMaxInlineBytes = kSliceBytes;

  RequestRun(const RequestRun&) = delete;
  RequestRun& operator=(const RequestRun&) = delete;

  // What the request took outside of its work so far: reading and waiting.
  void AddOwnTimes(StageTimes& times) const;
  absl::Duration TimeSinceReceived() const;

 protected:
  // `environment` must outlive the run.
  RequestRun(const RpcEnvironment& environment,
             std::unique_ptr<RequestWork> work);

  // What ends a request whatever its bytes say. To be asked before they are
  // touched; an error is for Refuse.
  absl::Status CheckUnread() const;
  // Leads to one Done, now or later, in this thread or another. `bytes` must
  // stay valid until then.
  void Start(std::string_view bytes);
  // Instead of Start: counts the refusal, then Done.
  void Refuse(const absl::Status& status) { Finish(status); }

  // The two halves of Start, for a request that comes as something else than a
  // Protobuf message. After an error of Admit comes Refuse.
  absl::Status Admit(const TextCount& count);
  void StartAdmitted(std::string_view bytes);

  const RpcEnvironment& environment() const { return environment_; }
  const RequestWork& work() const { return *work_; }

 private:
  // Makes the bytes of the answer, while the permit is still held.
  virtual absl::Status MakeAnswer(
      const google::protobuf::MessageLite& response) = 0;
  // The end; the run may delete itself.
  virtual void Done(const absl::Status& status) = 0;

  absl::Status CountAndAdmit(std::string_view bytes);
  void QueueForWorker();
  void RunSlice();
  absl::StatusOr<Progress> Advance();
  void Finish(const absl::Status& status);

  const RpcEnvironment& environment_;
  const std::unique_ptr<RequestWork> work_;
  const std::chrono::steady_clock::time_point received_;
  Admission::Permit permit_;
  WorkSize size_;
  absl::Duration read_time_;
  absl::Duration queue_time_;
  // TimeSinceReceived when it began to wait for its turn.
  absl::Duration waiting_since_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_REQUEST_RUN_H_
