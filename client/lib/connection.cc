#include "client/lib/connection.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <climits>
#include <optional>
#include <string>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "client/lib/client_status.h"
#include "client/lib/server_address.h"
#include "model/base/status_macros.h"
#include "model/base/version.h"

namespace semrank {
namespace {

// Vectors of 100,000 texts are 51 MB; gRPC's own limit of 4 MB would refuse
// the answer to a request that the server takes.
constexpr int kMaxResponseBytes = 512 << 20;

// gRPC's own second between two tries to connect would outlast every retry.
constexpr int kFirstReconnectMillis = 100;
constexpr int kMaxReconnectMillis = 5'000;

std::shared_ptr<grpc::Channel> OpenChannel(const ClientOptions& options) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxResponseBytes);
  arguments.SetUserAgentPrefix(absl::StrFormat("semrank-client/%s", Version()));
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS,
                   kFirstReconnectMillis);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kMaxReconnectMillis);
  // Channels of one process to one server would share a connection.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // gRPC obeys http_proxy for every address; no proxy reaches our loopback.
  if (IsLoopback(options.address)) {
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  }
  return grpc::CreateCustomChannel(
      options.address, ToChannelCredentials(options.credentials), arguments);
}

std::optional<std::string> Pushback(const grpc::ClientContext& context) {
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto found = trailers.find("grpc-retry-pushback-ms");
  if (found == trailers.end()) return std::nullopt;
  return std::string(found->second.data(), found->second.size());
}

}  // namespace

absl::Status CheckOptions(const ClientOptions& options) {
  const absl::Status address = CheckServerAddress(options.address);
  if (!address.ok()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "server address '%s': %s", options.address, address.message()));
  }
  if (options.deadline <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("deadline %s: must be positive",
                        absl::FormatDuration(options.deadline)));
  }
  if (options.retry.max_attempts < 1) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "max_attempts %d: must be at least 1", options.retry.max_attempts));
  }
  return CheckCredentials(options.credentials);
}

Connection::Connection(const ClientOptions& options)
    : options_(options), channel_(OpenChannel(options)) {}

absl::Time Connection::DeadlineFor(int num_messages) const {
  return absl::Now() + num_messages * options_.deadline;
}

void Connection::Prepare(absl::Time deadline,
                         grpc::ClientContext& context) const {
  if (deadline < absl::InfiniteFuture()) {
    context.set_deadline(absl::ToChronoTime(deadline));
  }
  if (!options_.credentials.api_key.empty()) {
    context.AddMetadata("authorization",
                        "Bearer " + options_.credentials.api_key);
  }
}

absl::Status Connection::Attempt(
    std::size_t num_bytes, absl::Time deadline, Repeat repeat,
    const std::function<grpc::Status(grpc::ClientContext&)>& call) const {
  // Protobuf counts in int: a larger message would end the process.
  if (num_bytes > INT_MAX) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "the request has %d bytes, a message can have %d at the most",
        num_bytes, INT_MAX));
  }
  Retry retry(options_.retry, deadline);
  while (true) {
    grpc::ClientContext context;
    Prepare(deadline, context);
    const grpc::Status status = call(context);
    if (status.ok()) return absl::OkStatus();
    if (repeat == Repeat::kNever || !WaitToRepeat(status, context, retry)) {
      return Describe(status, retry.num_attempts());
    }
  }
}

bool Connection::WaitToRepeat(const grpc::Status& failed,
                              const grpc::ClientContext& context,
                              Retry& retry) const {
  const std::optional<absl::Duration> delay =
      retry.Wait(failed.error_code(), Pushback(context), absl::Now());
  if (!delay.has_value()) return false;
  absl::SleepFor(*delay);
  return true;
}

absl::Status Connection::Describe(const grpc::Status& failed,
                                  int num_attempts) const {
  absl::Status result = FromGrpcStatus(failed, options_.address);
  const bool from_server = GetErrorInfo(result).has_value();
  if (!from_server && absl::IsUnavailable(result)) {
    result = absl::UnavailableError(absl::StrFormat(
        "cannot reach %s: %s", options_.address, failed.error_message()));
  }
  if (!from_server && absl::IsDeadlineExceeded(result)) {
    const bool connected =
        channel_->GetState(/*try_to_connect=*/false) == GRPC_CHANNEL_READY;
    result = absl::DeadlineExceededError(
        absl::StrFormat("%s: %s within %s", options_.address,
                        connected ? "no answer" : "no connection",
                        absl::FormatDuration(options_.deadline)));
  }
  return num_attempts <= 1 ? result
                           : WithNote(result, absl::StrFormat("tried %d times",
                                                              num_attempts));
}

}  // namespace semrank
