#include "server/rpc/rpc_server.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/support/log.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/impl/service_type.h>
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
#include "model/base/count_text.h"
#include "model/base/mutex.h"
#include "model/base/resources.h"
#include "server/auth/tls_files.h"
#include "server/base/limits.h"
#include "server/base/logging.h"
#include "server/rpc/health_server.h"
#include "server/rpc/services.h"

namespace semrank {
namespace {

// The time that streams that never end by themselves (health Watch, reflection)
// and calls that gRPC has just accepted get after the last of our calls.
constexpr std::chrono::milliseconds kSettleTime(100);
// The time beyond that for gRPC to cancel calls and to close connections.
constexpr std::chrono::milliseconds kCloseTime(500);

// How often the server looks for responses that clients do not read.
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

// Credentials that present the newest certificates in each handshake, so that
// renewed files take effect without a restart and without a lost connection.
// gRPC's C++ classes take fixed certificates only; its C interface asks for new
// ones before each handshake. gRPC 1.51 has a file watcher of its own, but it
// accepts a new certificate beside an old key. TlsCertificates checks each pair
// first.
class RenewedCredentials final : public grpc::ServerCredentials {
 public:
  explicit RenewedCredentials(const TlsCertificates& certificates)
      : certificates_(certificates),
        credentials_(grpc_ssl_server_credentials_create_with_options(
            grpc_ssl_server_credentials_create_options_using_config_fetcher(
                certificates.asks_clients()
                    ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                    : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE,
                &RenewedCredentials::Fetch, this))) {}
  ~RenewedCredentials() override {
    grpc_server_credentials_release(credentials_);
  }

  // Pure virtual in gRPC 1.51. Calls check API keys themselves.
  void SetAuthMetadataProcessor(
      const std::shared_ptr<grpc::AuthMetadataProcessor>& /*processor*/)
      override {}

 private:
  int AddPortToServer(const std::string& address,
                      grpc_server* server) override {
    return grpc_server_add_http2_port(server, address.c_str(), credentials_);
  }

  static grpc_ssl_certificate_config_reload_status Fetch(
      void* self, grpc_ssl_server_certificate_config** config) {
    return static_cast<RenewedCredentials*>(self)->FetchIfNew(config);
  }
  // gRPC's threads call it for each handshake.
  grpc_ssl_certificate_config_reload_status FetchIfNew(
      grpc_ssl_server_certificate_config** config);

  const TlsCertificates& certificates_;
  grpc_server_credentials* const credentials_;
  Mutex mutex_;
  std::shared_ptr<const TlsContent> fetched_ ABSL_GUARDED_BY(mutex_);
};

grpc_ssl_certificate_config_reload_status RenewedCredentials::FetchIfNew(
    grpc_ssl_server_certificate_config** config) {
  MutexLock lock(mutex_);
  const std::shared_ptr<const TlsContent> content = certificates_.current();
  // gRPC keeps the last configuration, so an unchanged one is not parsed again
  // for each handshake. Comparing pointers is enough: each renewal is a new
  // object, and fetched_ keeps this one's address from being reused.
  if (std::exchange(fetched_, content) == content) {
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
  }
  const grpc_ssl_pem_key_cert_pair pair = {content->key.c_str(),
                                           content->cert.c_str()};
  // gRPC 1.51 aborts without roots, even where it does not ask clients for a
  // certificate and never uses them.
  const std::string& roots =
      content->client_ca.empty() ? content->cert : content->client_ca;
  *config = grpc_ssl_server_certificate_config_create(roots.c_str(), &pair, 1);
  return *config != nullptr ? GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW
                            : GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_FAIL;
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

// The memory of requests that have not arrived completely, over all
// connections. It is many times what the server accepts at once: when it is
// used up, gRPC aborts calls without a reason of ours.
std::size_t MaxIncomingBytes(const Limits& limits) {
  constexpr std::int64_t kLeast = std::int64_t{256} << 20;
  return static_cast<std::size_t>(
      std::max(kLeast, 8 * MaxRequestBytes(limits)));
}

void SetLimits(const Limits& limits, grpc::ServerBuilder& builder) {
  grpc::ResourceQuota quota("semrank");
  quota.Resize(MaxIncomingBytes(limits));
  builder.SetResourceQuota(quota);
  // CheckMetadata refuses what exceeds the limit a little, with a reason, and
  // counts it; gRPC would refuse it unnoticed.
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
  // No service of ours shows the counters and traces of channelz.
  builder.AddChannelArgument(GRPC_ARG_ENABLE_CHANNELZ, 0);
  // gRPC looks at a message's size only after unpacking it, whatever it grows
  // to; a few kilobytes of gzip would be gigabytes of memory.
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
}

}  // namespace

RpcServer::RpcServer(UnreadResponses* unread, absl::Duration send_timeout)
    : unread_(*unread),
      calls_(unread, send_timeout),
      cutter_(std::make_unique<PeriodicTask>(kCutInterval,
                                             [this] { CutUnread(); })),
      subscription_(unread->Subscribe([this] { cutter_->RunNow(); })) {}

void RpcServer::CutUnread() {
  const int num_excess = calls_.CancelExcess();
  if (num_excess > 0) {
    Log(LogLevel::kWarning,
        absl::StrFormat("%s ended: their clients left the most bytes of "
                        "responses unread, and there were too many",
                        CountText(num_excess, "call")),
        cut_log_);
  }
  const int num_overdue = calls_.CancelOverdue(absl::Now());
  if (num_overdue > 0) {
    Log(LogLevel::kWarning,
        absl::StrFormat("%s ended: clients did not take responses in time",
                        CountText(num_overdue, "call")),
        cut_log_);
  }
  unread_.CountEnded(num_excess + num_overdue);
}

// The port is bound first, since that is what fails in practice. Connections
// are accepted last, when health is correct.
absl::StatusOr<std::unique_ptr<RpcServer>> RpcServer::Start(
    const RpcServerOptions& options, const ServerParts& parts) {
  PrepareProcess();
  const Limits& limits = parts.limits;
  std::unique_ptr<RpcServer> server(
      new RpcServer(parts.unread, options.send_timeout));
  auto listener =
      ConnectionListener::Listen(options.listen_address, parts.connections);
  if (!listener.ok()) {
    return absl::UnavailableError(
        absl::StrFormat("cannot listen for gRPC on %s (--listen_address): %s",
                        options.listen_address, listener.status().message()));
  }
  server->listener_ = *std::move(listener);
  server->services_ = MakeServices(parts, server->calls_);

  server->credentials_ =
      options.tls != nullptr
          ? std::make_shared<RenewedCredentials>(*options.tls)
          : grpc::InsecureServerCredentials();
  grpc::ServerBuilder builder;
  auto take = AcceptExternalConnections(builder, server->credentials_,
                                        options.handshake_timeout);
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
                                     options.max_memory_bytes, &ResidentMemory)
                               : nullptr);
  return server;
}

RpcServer::~RpcServer() {
  if (server_ != nullptr && !stopped_) Stop(absl::ZeroDuration());
  unread_.Unsubscribe(subscription_);
}

void RpcServer::ReportServing() { ReportHealth(*server_, true); }

void RpcServer::ReportNotServing() {
  server_->GetHealthCheckService()->Shutdown();
}

// First it refuses new connections, then new calls on open ones, then it waits.
bool RpcServer::Stop(absl::Duration timeout) {
  stopped_ = true;
  listener_->StopListening();
  const auto wait =
      absl::ToChronoNanoseconds(std::max(timeout, absl::ZeroDuration()));
  // Streams would otherwise stay open as long as their clients like.
  calls_.EndStreams();
  const bool all_ended =
      calls_.WaitUntilIdle(std::chrono::steady_clock::now() + wait);
  // Shutdown comes only now, since it waits for every call, also for those that
  // never end, until the deadline given here; then it cancels them.
  const auto settle_time =
      all_ended ? kSettleTime : std::chrono::milliseconds(0);
  // A peer that never pauses would keep gRPC from shutting down.
  listener_->ResetAllAt(std::chrono::steady_clock::now() + settle_time +
                        kCloseTime);
  server_->Shutdown(std::chrono::system_clock::now() + settle_time);
  return all_ended;
}

}  // namespace semrank
