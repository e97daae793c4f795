// A channel to a server, with what all calls share: deadline, API key, retries,
// and error messages that name the server.
//
//   Threads  all methods are thread-safe; a call blocks its thread.
#ifndef SEMRANK_CLIENT_LIB_CONNECTION_H_
#define SEMRANK_CLIENT_LIB_CONNECTION_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/lib/client_options.h"
#include "client/lib/retry.h"

namespace semrank {

// kOff for calls that must not run twice, or that report the state right now.
enum class Retries { kOn, kOff };

// How one attempt of a bidirectional stream ended.
struct StreamEnd {
  absl::Status read = {};    // the reader's error, which cancelled the stream
  absl::Status server = {};  // else why the stream broke; OK = complete
  bool retry = false;        // broken, and the delay before a retry is over
};

class Connection {
 public:
  // `options` must pass CheckOptions. Does not connect yet.
  explicit Connection(const ClientOptions& options);

  const ClientOptions& options() const { return options_; }
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

  // Deadline of a call that starts now and sends that many messages.
  absl::Time DeadlineFor(int num_messages = 1) const;
  // Sets the deadline and the API key.
  void Prepare(absl::Time deadline, grpc::ClientContext& context) const;

  // A unary call with its retries.
  template <typename Stub, typename Request, typename Response>
  absl::StatusOr<Response> Call(
      Stub& stub,
      grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                   Response*),
      const Request& request, absl::Time deadline,
      Retries retries = Retries::kOn) const {
    Response response;
    const absl::Status status =
        Attempt(request.ByteSizeLong(), deadline, retries,
                [&](grpc::ClientContext& context) {
                  response.Clear();
                  return (stub.*method)(&context, request, &response);
                });
    if (!status.ok()) return status;
    return response;
  }

  // One attempt of a bidirectional stream of `method`. `write(stream)` runs in
  // a thread of its own and returns when a write fails, `read(stream)` runs in
  // this thread until the stream ends. They run in parallel because the server
  // stops reading while its responses wait.
  template <typename Stub, typename Stream, typename Write, typename Read>
  StreamEnd RunStream(
      Stub& stub, std::unique_ptr<Stream> (Stub::*method)(grpc::ClientContext*),
      absl::Time deadline, Retry& retry, Write write, Read read) const {
    grpc::ClientContext context;
    Prepare(deadline, context);
    const auto stream = (stub.*method)(&context);
    const std::jthread watch = WatchInterrupts(context);
    std::thread writer([&] { write(*stream); });
    StreamEnd end{.read = read(*stream)};
    if (!end.read.ok()) context.TryCancel();
    writer.join();
    const grpc::Status finished = stream->Finish();
    if (!end.read.ok() || finished.ok()) return end;
    end.retry = WaitToRetry(finished, context, retry);
    end.server = Describe(finished, retry.num_attempts());
    return end;
  }

  // The status of a failed call for the caller: it names the address, the
  // reason and, if there were several, the number of attempts.
  absl::Status Describe(const grpc::Status& failed, int num_attempts) const;

 private:
  absl::Status Attempt(
      std::size_t num_bytes, absl::Time deadline, Retries retries,
      const std::function<grpc::Status(grpc::ClientContext&)>& call) const;
  // A thread that cancels the call when the options say so; it ends with the
  // returned object. None without such an option.
  std::jthread WatchInterrupts(grpc::ClientContext& context) const;
  bool IsInterrupted() const;
  // Sleeps until the next attempt may start; false if there must be none.
  bool WaitToRetry(const grpc::Status& failed,
                   const grpc::ClientContext& context, Retry& retry) const;

  const ClientOptions options_;
  const std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace semrank

#endif  // SEMRANK_CLIENT_LIB_CONNECTION_H_
