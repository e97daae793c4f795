// What each method does with one request, from its bytes to its response. The
// handlers are named by methods.def and defined in the sources of their names.
#ifndef SEMRANK_SERVER_REQUESTS_HANDLERS_H_
#define SEMRANK_SERVER_REQUESTS_HANDLERS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "semrank/v1/common.pb.h"
#include "server/base/work_slice.h"
#include "server/requests/server_parts.h"

namespace google::protobuf {
class MessageLite;
}  // namespace google::protobuf

namespace semrank {

class RequestRun;

// What a request needs: admission counts the texts, and both decide which
// thread runs it.
struct RequestSize {
  std::int64_t num_texts = 0;
  std::size_t num_bytes = 0;
};

// Handles one request: Read, then, once it is admitted, RunSlice until that
// returns kDone or an error. One thread at a time calls it, not always the same
// one.
class RequestHandler {
 public:
  virtual ~RequestHandler() = default;

  // Reads the Protobuf message in place and checks what is cheap to check.
  // `bytes` stays valid as long as the handler does. Must not copy, normalise
  // or embed what is in it, since nothing is admitted yet.
  virtual absl::StatusOr<RequestSize> Read(std::string_view bytes) = 0;
  // After Read: passes each text that is still to be normalised to `take`.
  using TakeText = absl::FunctionRef<void(std::string_view text)>;
  virtual void EachText(TakeText /*take*/) const {}
  // Instead of Read, for a request that is refused unread: reads what the
  // refusal repeats. False if that cannot be read.
  virtual bool ReadForRefusal(std::string_view /*bytes*/) { return true; }

  // Runs one slice. `run` is the caller that waits, and knows how long reading
  // and waiting took.
  virtual absl::StatusOr<Progress> RunSlice(const RequestRun& run) = 0;

  // After kWaiting: begins what the request waits for, without a thread and
  // permits, and lets `resume` be called once it is done, by any thread, also
  // before Wait returns. That runs RunSlice and may delete the handler.
  virtual void Wait(const std::function<void()>& resume) { resume(); }

  // The response, which is complete after kDone.
  virtual const google::protobuf::MessageLite& response() const = 0;

  // The model that answered, where no field `model` of the response names it.
  virtual v1::ModelRef model() const { return {}; }

  // For a stream whose requests fail alone: writes the failure into the
  // response. False = the stream ends with it.
  virtual bool SetFailure(const absl::Status& /*status*/) { return false; }
  // The number by which the client knows a request of its stream; nullopt = its
  // place in the stream.
  virtual std::optional<std::uint64_t> request_number() const { return {}; }
};

// A handler that fills in a response of its own.
template <typename Response>
class HandlerOf : public RequestHandler {
 public:
  explicit HandlerOf(const ServerParts& parts) : parts_(parts) {}
  const google::protobuf::MessageLite& response() const final {
    return response_;
  }

 protected:
  const ServerParts& parts_;
  Response response_;
};

// Makes the handler of a unary call. `parts` must outlive it.
using MakeHandler =
    std::unique_ptr<RequestHandler> (*)(const ServerParts& parts);

// Defines the function that makes the handlers of a unary method, such as
// MakeGetLimitsHandler (methods.h); `handler` is their class.
#define SEMRANK_DEFINE_HANDLER(method_name, handler)          \
  std::unique_ptr<RequestHandler> Make##method_name##Handler( \
      const ServerParts& parts) {                             \
    return std::make_unique<handler>(parts);                  \
  }

// Makes the handlers of one stream's messages, which share its state: the
// function must outlive them.
using StreamHandlers = std::function<std::unique_ptr<RequestHandler>()>;
using MakeStream = StreamHandlers (*)(const ServerParts& parts);

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_HANDLERS_H_
