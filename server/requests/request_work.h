// What a method does with one request, whoever brings the bytes: a unary call,
// a stream or HTTP. It is worked on in turns of a few milliseconds, so that
// several requests can share a thread.
//
//   Life     Measure; once admitted, Read; then Advance until it says kDone or
//            fails.
//   Threads  one at a time, not always the same.
#ifndef SEMRANK_SERVER_REQUESTS_REQUEST_WORK_H_
#define SEMRANK_SERVER_REQUESTS_REQUEST_WORK_H_

#include <google/protobuf/message_lite.h>

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "server/base/work_slice.h"
#include "server/requests/message_texts.h"
#include "server/requests/text_count.h"

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

  // By what fields the request's texts are counted; null = it never has any.
  virtual const MessageTexts* texts() const { return nullptr; }

  // May a server without room for one more text refuse it before its bytes are
  // counted? Not if the refusal must repeat what they say.
  virtual bool refused_unread() const { return texts() != nullptr; }

  // May it be asked only of a server whose models are loaded?
  virtual bool needs_model() const { return true; }

  // What the request asks for, by what was counted in its bytes, which stay
  // valid as long as the work does. An error only where no room could ever be
  // enough; any other is left to Read. Must not take long.
  virtual absl::StatusOr<WorkSize> Measure(const TextCount& count) {
    return WorkSize{count.num_items, count.num_bytes};
  }

  // Decodes the Protobuf message and checks what is cheap to check. `bytes`
  // stays valid as long as the work does. Must not take long.
  virtual absl::Status Read(std::string_view bytes) = 0;

  // One turn. `run` says who waits, and what the time went into so far.
  virtual absl::StatusOr<Progress> Advance(const RequestRun& run) = 0;

  // Where Advance must run, because it may block; null = by the size.
  virtual WorkerPool* pool() const { return nullptr; }

  // Complete after kDone.
  virtual const google::protobuf::MessageLite& response() const = 0;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_REQUEST_WORK_H_
