// A channel to a server, and what all calls over it share: deadline, key,
// retries, and words for what went wrong.
//
//   Threads  every method, from any thread; a call blocks its thread.
#ifndef SEMRANK_CLIENT_LIB_CONNECTION_H_
#define SEMRANK_CLIENT_LIB_CONNECTION_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/lib/client_options.h"
#include "client/lib/retry.h"

namespace semrank {

// Whether a second attempt may do again what the first one did.
enum class Repeat { kSafe, kNever };

class Connection {
 public:
  // `options` are good (CheckOptions). Does not connect yet.
  explicit Connection(const ClientOptions& options);

  const ClientOptions& options() const { return options_; }
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

  // Of a call of so many messages that begins now.
  absl::Time DeadlineFor(int num_messages = 1) const;
  // Sets the deadline and the key.
  void Prepare(absl::Time deadline, grpc::ClientContext& context) const;

  // One unary call, with its retries.
  template <typename Stub, typename Request, typename Response>
  absl::StatusOr<Response> Call(
      Stub& stub,
      grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                   Response*),
      const Request& request, absl::Time deadline,
      Repeat repeat = Repeat::kSafe) const {
    Response response;
    const absl::Status status =
        Attempt(request.ByteSizeLong(), deadline, repeat,
                [&](grpc::ClientContext& context) {
                  response.Clear();
                  return (stub.*method)(&context, request, &response);
                });
    if (!status.ok()) return status;
    return response;
  }

  // After an attempt that failed: true once it is time for the next one, false
  // if there is to be none.
  bool WaitToRepeat(const grpc::Status& failed,
                    const grpc::ClientContext& context, Retry& retry) const;

  // For the caller: address, reason, and how often it was tried.
  absl::Status Describe(const grpc::Status& failed, int num_attempts) const;

 private:
  absl::Status Attempt(
      std::size_t num_bytes, absl::Time deadline, Repeat repeat,
      const std::function<grpc::Status(grpc::ClientContext&)>& call) const;

  const ClientOptions options_;
  const std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace semrank

#endif  // SEMRANK_CLIENT_LIB_CONNECTION_H_
