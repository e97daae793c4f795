#include "client/lib/connection.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "client/lib/client_status.h"
#include "model/base/version.h"

namespace semrank {
namespace {

// gRPC's default of 4 MB would reject the response to a request that the server
// accepts. Its own limit (Limits.max_response_bytes) grows with its flags, so
// only Protobuf's holds here.
constexpr int kMaxResponseBytes = INT_MAX;

// With gRPC's default, one second between attempts to connect, a channel would
// still be waiting when the last retry of a call fails.
constexpr int kFirstReconnectMillis = 100;
constexpr int kMaxReconnectMillis = 5'000;

// Short for a person who has pressed Ctrl-C, and no load for a processor.
constexpr std::chrono::milliseconds kInterruptInterval(100);

std::shared_ptr<grpc::ChannelCredentials> ToChannelCredentials(
    const ClientCredentials& credentials) {
  if (credentials.tls_ca.empty()) return grpc::InsecureChannelCredentials();
  return grpc::SslCredentials(
      {credentials.tls_ca, credentials.tls_key, credentials.tls_cert});
}

std::shared_ptr<grpc::Channel> OpenChannel(const ClientOptions& options) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxResponseBytes);
  arguments.SetUserAgentPrefix(absl::StrFormat("semrank-client/%s", Version()));
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS,
                   kFirstReconnectMillis);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kMaxReconnectMillis);
  // Otherwise the channels of a process to one server share a connection, and a
  // load test with many connections would use one.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // gRPC obeys http_proxy for every address, but no proxy reaches our loopback.
  if (IsLoopback(options.address)) {
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  }
  return grpc::CreateCustomChannel(
      options.address, ToChannelCredentials(options.credentials), arguments);
}

// How long the server asks its client to wait, in a trailer of failed calls.
// The text as it is: Retry decides what a malformed value means.
std::optional<std::string> Pushback(const grpc::ClientContext& context) {
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto found = trailers.find("grpc-retry-pushback-ms");
  if (found == trailers.end()) return std::nullopt;
  return std::string(found->second.data(), found->second.size());
}

// What it usually means when the two sides speak different protocols; gRPC says
// no more than that the connection failed.
std::string_view ProtocolHint(const std::string& error, bool uses_tls) {
  if (absl::StrContains(error, "http1.x server") ||
      absl::StrContains(error, "missing selected ALPN")) {
    return " (that is not a gRPC port but one for HTTP, as semrank-server's "
           "--http_address: the one for gRPC is --listen_address)";
  }
  if (uses_tls && absl::StrContains(error, "wrong version number")) {
    return " (the server does not speak TLS there: connect without it)";
  }
  // A server that dies in the middle of a call closes the socket, too.
  if (!uses_tls && absl::StrContains(error, "failed to connect") &&
      absl::StrContains(error, "Socket closed")) {
    return " (it closed the connection at once: a server that speaks TLS does "
           "so, connect with TLS)";
  }
  return "";
}

}  // namespace

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
    std::size_t num_bytes, absl::Time deadline, Retries retries,
    const std::function<grpc::Status(grpc::ClientContext&)>& call) const {
  // Protobuf counts bytes in an int and aborts the process beyond it.
  if (num_bytes > INT_MAX) {
    return absl::InvalidArgumentError(
        absl::StrFormat("the request has %d bytes, over the limit of %d bytes "
                        "per message",
                        num_bytes, INT_MAX));
  }
  // One object for the call: all its attempts share the deadline.
  Retry retry(options_.retry, deadline);
  while (true) {
    // gRPC allows one call for each context.
    grpc::ClientContext context;
    Prepare(deadline, context);
    std::jthread watch = WatchInterrupts(context);
    const grpc::Status status = call(context);
    watch = {};  // a wait to retry watches by itself
    if (status.ok()) return absl::OkStatus();
    if (retries == Retries::kOff || !WaitToRetry(status, context, retry)) {
      return Describe(status, retry.num_attempts());
    }
  }
}

// Retry gives no delay that would end after the deadline, so the sleep is
// bounded.
bool Connection::WaitToRetry(const grpc::Status& failed,
                             const grpc::ClientContext& context,
                             Retry& retry) const {
  const std::optional<absl::Duration> delay =
      retry.NextDelay(failed.error_code(), Pushback(context), absl::Now());
  if (!delay.has_value()) return false;
  // In steps, since a signal may reach another thread and wake only that one.
  for (const absl::Time end = absl::Now() + *delay; absl::Now() < end;) {
    if (IsInterrupted()) return false;
    absl::SleepFor(
        std::min(absl::FromChrono(kInterruptInterval), end - absl::Now()));
  }
  return true;
}

bool Connection::IsInterrupted() const {
  return options_.interrupted != nullptr && options_.interrupted();
}

std::jthread Connection::WatchInterrupts(grpc::ClientContext& context) const {
  if (options_.interrupted == nullptr) return {};
  return std::jthread([this, &context](const std::stop_token& stop) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any stopped;
    // A signal handler can wake no thread, so its flag is polled.
    while (!stop.stop_requested() && !options_.interrupted()) {
      stopped.wait_for(lock, stop, kInterruptInterval, [] { return false; });
    }
    if (options_.interrupted()) context.TryCancel();
  });
}

absl::Status Connection::Describe(const grpc::Status& failed,
                                  int num_attempts) const {
  absl::Status result = FromGrpcStatus(failed, options_.address);
  // gRPC's own errors name neither the address nor what was attempted, and a
  // reached server always sends ErrorInfo.
  const bool from_server = GetErrorInfo(result).has_value();
  if (!from_server && absl::IsUnavailable(result)) {
    result = absl::UnavailableError(absl::StrFormat(
        "cannot reach %s: %s%s", options_.address, failed.error_message(),
        ProtocolHint(failed.error_message(),
                     !options_.credentials.tls_ca.empty())));
  }
  if (!from_server && absl::IsDeadlineExceeded(result)) {
    // A user wants to know which of two problems it is: a server that is slow,
    // or an address where nothing responds.
    const bool connected =
        channel_->GetState(/*try_to_connect=*/false) == GRPC_CHANNEL_READY;
    result = absl::DeadlineExceededError(absl::StrFormat(
        "%s: %s before the deadline (%s; in a stream, for each "
        "1,000 items)",
        options_.address, connected ? "no answer" : "no connection",
        absl::FormatDuration(options_.deadline)));
  }
  return num_attempts <= 1 ? result
                           : WithNote(result, absl::StrFormat("tried %d times",
                                                              num_attempts));
}

}  // namespace semrank
