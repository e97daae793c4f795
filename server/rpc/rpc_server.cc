#include "server/rpc/rpc_server.h"

#include <grpc/support/log.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "server/base/limits.h"
#include "server/base/log_throttle.h"
#include "server/base/logging.h"
#include "server/rpc/health_server.h"
#include "server/rpc/services.h"
#include "server/rpc/tls_credentials.h"

namespace semrank {
namespace {

// After the last of our calls, what streams that never end by themselves
// (health Watch, reflection) and calls that gRPC has just taken in get.
constexpr std::chrono::milliseconds kSettleTime(100);
// What gRPC gets beyond that to cancel calls and to close connections.
constexpr std::chrono::milliseconds kCloseTime(500);

// How often the server looks for responses that clients do not take.
constexpr absl::Duration kCutInterval = absl::Seconds(1);

constexpr int kMaxLogLinesPerSecond = 10;

// Writes gRPC's errors into the server's log, throttled.
void LogGrpc(gpr_log_func_args* args) {
  // Never destroyed: threads of gRPC may log while the process exits.
  static LogThrottle& throttle = *new LogThrottle(kMaxLogLinesPerSecond);
  if (args->severity != GPR_LOG_SEVERITY_ERROR) return;
  // OpenSSL's words for plain text on a TLS port, a common mistake of clients.
  const bool no_tls =
      std::string_view(args->message).find("wrong version number") !=
      std::string_view::npos;
  Log(LogLevel::kWarning,
      absl::StrCat("gRPC: ", args->message,
                   no_tls ? " (a client that does not speak TLS)" : ""),
      throttle);
}

// Settings of the whole process, made before its first gRPC server.
void PrepareProcess() {
  static std::once_flag once;
  std::call_once(once, [] {
    gpr_set_log_function(&LogGrpc);
    // Debian builds Abseil with its search for deadlocks, which takes a
    // spinlock of the whole process at each lock of gRPC's: 5 % of a call.
    absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  });
}

// What requests may take that have not come whole, all connections together.
// Many times what the server takes at once: when it is used up, gRPC aborts
// calls without a reason of ours.
std::size_t MaxIncomingBytes(const Limits& limits) {
  constexpr std::int64_t kLeast = std::int64_t{256} << 20;
  return static_cast<std::size_t>(
      std::max(kLeast, 8 * MaxRequestBytes(limits)));
}

void SetLimits(const Limits& limits, grpc::ServerBuilder& builder) {
  grpc::ResourceQuota quota("semrank");
  quota.Resize(MaxIncomingBytes(limits));
  builder.SetResourceQuota(quota);
  // What is a little too much is refused by the call, with a reason and counted
  // (CheckMetadata); gRPC would refuse it unseen.
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE,
                             static_cast<int>(2 * limits.max_metadata_bytes));
  builder.AddChannelArgument(
      GRPC_ARG_MAX_CONCURRENT_STREAMS,
      static_cast<int>(limits.max_streams_per_connection));
  // ToSingleSlice has the limit. gRPC 1.51 looks at a message's length only
  // once it holds all of it, so a limit of its own would save no memory; but it
  // would hide the refusal from us, on a stream as a half-close.
  builder.SetMaxReceiveMessageSize(-1);
  builder.SetMaxSendMessageSize(-1);
  // Counters and traces that no service of ours shows.
  builder.AddChannelArgument(GRPC_ARG_ENABLE_CHANNELZ, 0);
  // gRPC looks at a message's size only after unpacking it, whatever it grows
  // to; a few kilobytes of gzip would be gigabytes of memory.
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
}

}  // namespace

RpcServer::RpcServer(std::int64_t max_unsent_bytes, absl::Duration send_time)
    : calls_(max_unsent_bytes, send_time),
      cutter_(std::make_unique<PeriodicTask>(kCutInterval, [this] {
        const int num_cut = calls_.CancelOverdue(absl::Now());
        if (num_cut == 0) return;
        LogWarning("%d calls ended: clients did not take responses in time",
                   num_cut);
      })) {}

// The port is bound first, which is what fails in practice. Connections are
// accepted last, when health says what is true.
absl::StatusOr<std::unique_ptr<RpcServer>> RpcServer::Start(
    const RpcServerOptions& options, const ServerParts& parts) {
  PrepareProcess();
  const Limits& limits = parts.limits;
  std::unique_ptr<RpcServer> server(new RpcServer(options.max_unsent_bytes > 0
                                                      ? options.max_unsent_bytes
                                                      : MaxUnsentBytes(limits),
                                                  options.send_time));
  auto listener =
      ConnectionListener::Listen(options.listen_address, parts.connections);
  if (!listener.ok()) {
    return absl::UnavailableError(
        absl::StrFormat("cannot listen for gRPC on %s (--listen_address): %s",
                        options.listen_address, listener.status().message()));
  }
  server->listener_ = *std::move(listener);
  server->services_ = MakeServices(parts, server->calls_);

  server->credentials_ = options.tls != nullptr
                             ? MakeTlsCredentials(*options.tls)
                             : grpc::InsecureServerCredentials();
  grpc::ServerBuilder builder;
  auto take =
      TakeConnections(builder, server->credentials_, options.handshake_timeout);
  SetLimits(limits, builder);
  if (options.max_connection_age > absl::ZeroDuration()) {
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS,
                               static_cast<int>(absl::ToInt64Milliseconds(
                                   options.max_connection_age)));
  }
  builder.SetContextAllocator(OpenCalls::MakeContexts());
  for (const auto& service : server->services_) {
    // The builder keeps pointers: services_ outlives server_ by the order of
    // the members.
    builder.RegisterService(service.get());
  }
  server->server_ = builder.BuildAndStart();
  if (server->server_ == nullptr) {
    return absl::InternalError("gRPC does not start a server");
  }
  // gRPC reports SERVING from the start; no client is connected yet.
  ReportHealth(*server->server_, parts.lifecycle->ready());
  server->listener_->Start(std::move(take),
                           options.max_memory_bytes > 0
                               ? std::make_unique<MemoryWatchdog>(
                                     options.max_memory_bytes, &ResidentBytes)
                               : nullptr);
  return server;
}

RpcServer::~RpcServer() {
  if (server_ != nullptr && !stopped_) Stop(absl::ZeroDuration());
}

void RpcServer::ReportServing() { ReportHealth(*server_, true); }

void RpcServer::ReportNotServing() {
  server_->GetHealthCheckService()->Shutdown();
}

// First no new connections, then no new calls on open ones, then waiting.
bool RpcServer::Stop(absl::Duration timeout) {
  stopped_ = true;
  listener_->StopListening();
  const auto wait =
      absl::ToChronoNanoseconds(std::max(timeout, absl::ZeroDuration()));
  // Streams would otherwise stay open as long as their clients like.
  calls_.EndStreams();
  const bool all_ended =
      calls_.WaitUntilIdle(std::chrono::steady_clock::now() + wait);
  // Only now, since Shutdown waits for every call, also for those that never
  // end, until the deadline that it is given here; then it cancels them.
  const auto settle_time =
      all_ended ? kSettleTime : std::chrono::milliseconds(0);
  // A peer that never pauses would keep gRPC from shutting down.
  listener_->ResetAllAt(std::chrono::steady_clock::now() + settle_time +
                        kCloseTime);
  server_->Shutdown(std::chrono::system_clock::now() + settle_time);
  return all_ended;
}

}  // namespace semrank
