// What a method does with one request, whoever brings the bytes: a unary call
// or a stream. It is worked on in turns of a few milliseconds, so that several
// requests can share a thread.
//
//   Life     Read once; then Advance until it says kDone or fails.
//   Threads  one at a time, not always the same.
#ifndef SEMRANK_SERVER_RPC_REQUEST_WORK_H_
#define SEMRANK_SERVER_RPC_REQUEST_WORK_H_

#include <google/protobuf/message_lite.h>

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "server/core/progress.h"

namespace semrank {

class RequestRun;
class WorkerPool;

// What a request asks for: admission counts the texts, and by both it is
// decided which thread works.
struct WorkSize {
  std::int64_t num_texts = 0;
  std::size_t num_bytes = 0;
};

class RequestWork {
 public:
  virtual ~RequestWork() = default;

  // May a server without room for one more text refuse it before Read? Not a
  // call without texts, nor one whose refusal must repeat what its bytes say.
  virtual bool refused_unread() const { return true; }

  // Decodes and checks what is cheap to check. `bytes` stays valid as long as
  // the work does. Must not take long.
  virtual absl::StatusOr<WorkSize> Read(std::string_view bytes) = 0;

  // One turn. `run` says who waits, and what the time went into so far.
  virtual absl::StatusOr<Progress> Advance(const RequestRun& run) = 0;

  // Where Advance must run, because it may block; null = by the size.
  virtual WorkerPool* pool() const { return nullptr; }

  // Complete after kDone.
  virtual const google::protobuf::MessageLite& response() const = 0;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_REQUEST_WORK_H_
