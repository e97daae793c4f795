#include "server/rpc/rpc_server.h"

#include <grpc/grpc.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <mutex>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "server/base/limits.h"
#include "server/requests/message_parser.h"
#include "server/rpc/call_tracker.h"
#include "server/rpc/catalog_service.h"
#include "server/rpc/embedding_service.h"
#include "server/rpc/grpc_log.h"
#include "server/rpc/health_server.h"
#include "server/rpc/model_service.h"
#include "server/rpc/ranking_service.h"
#include "server/rpc/tls_credentials.h"

namespace semrank {
namespace {

// After the last of our calls the library gets this long to put its answer on
// the wire before streams that never end are cut.
constexpr std::chrono::milliseconds kSettleTime(100);

// How often it is looked for answers that are not taken.
constexpr absl::Duration kCutInterval = absl::Seconds(1);

// Settings of the whole process, made before its first gRPC server.
void PrepareProcess() {
  static std::once_flag once;
  std::call_once(once, [] {
    CatchProtobufLog();
    CatchGrpcLog();
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  });
}

// Of requests on their way in, all connections together. Many times what the
// server takes at once: gRPC breaks off calls without a reason of ours when it
// is used up.
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
  // (CheckMetadataSize); gRPC would not even tell us.
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
  // gRPC looks at a message's size only after unpacking it, whatever it grows
  // to; a few kilobytes of gzip would be gigabytes of memory.
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
}

}  // namespace

RpcServer::RpcServer(std::unique_ptr<CallTracker> calls)
    : calls_(std::move(calls)),
      cutter_(std::make_unique<PeriodicTask>(kCutInterval, [this] {
        const int num_cut = calls_->leaving().CancelOverdue(absl::Now());
        if (num_cut == 0) return;
        spdlog::warn("{} calls ended: their answers were not taken in time",
                     num_cut);
      })) {}

absl::StatusOr<std::unique_ptr<RpcServer>> RpcServer::Start(
    const RpcServerOptions& options, RpcEnvironment environment) {
  PrepareProcess();
  const std::int64_t max_leaving_bytes =
      options.max_leaving_bytes > 0
          ? options.max_leaving_bytes
          : MaxLeavingBytes(environment.ranking->limits());
  std::unique_ptr<RpcServer> server(new RpcServer(
      std::make_unique<CallTracker>(max_leaving_bytes, options.answer_time)));
  auto listener = ConnectionListener::Listen(options.listen_address,
                                             environment.connections);
  if (!listener.ok()) {
    return absl::UnavailableError(
        absl::StrFormat("cannot listen for gRPC on %s (--listen_address): %s",
                        options.listen_address, listener.status().message()));
  }
  server->listener_ = *std::move(listener);
  environment.calls = server->calls_.get();
  server->services_.push_back(std::make_unique<RankingService>(environment));
  server->services_.push_back(std::make_unique<EmbeddingService>(environment));
  server->services_.push_back(std::make_unique<CatalogService>(environment));
  server->services_.push_back(std::make_unique<ModelService>(environment));

  server->credentials_ = options.tls != nullptr
                             ? MakeTlsCredentials(*options.tls)
                             : grpc::InsecureServerCredentials();
  grpc::ServerBuilder builder;
  auto take =
      TakeConnections(builder, server->credentials_, options.handshake_timeout);
  SetLimits(environment.ranking->limits(), builder);
  for (const auto& service : server->services_) {
    builder.RegisterService(service.get());
  }
  server->server_ = builder.BuildAndStart();
  if (server->server_ == nullptr) {
    return absl::InternalError("gRPC does not start a server");
  }
  // gRPC itself says SERVING from its first moment; nobody is connected yet.
  ReportHealth(*server->server_, environment.lifecycle->ready());
  server->listener_->Start(std::move(take));
  return server;
}

RpcServer::~RpcServer() {
  if (server_ != nullptr && !stopped_) Stop(absl::ZeroDuration());
}

void RpcServer::ReportServing() { ReportHealth(*server_, true); }

void RpcServer::ReportNotServing() {
  server_->GetHealthCheckService()->Shutdown();
}

bool RpcServer::Stop(absl::Duration timeout) {
  stopped_ = true;
  listener_->StopListening();
  const auto wait =
      absl::ToChronoNanoseconds(std::max(timeout, absl::ZeroDuration()));
  const auto deadline = std::chrono::steady_clock::now() + wait;
  // Shutdown blocks until the last call has ended; at its deadline it cancels.
  const auto shutdown = std::async(std::launch::async, [&] {
    server_->Shutdown(std::chrono::system_clock::now() + wait);
  });
  const auto is_down_within = [&](std::chrono::milliseconds time) {
    return shutdown.wait_for(time) == std::future_status::ready;
  };
  calls_->EndStreams();
  bool all_ended = calls_->WaitUntilIdle(deadline);
  while (all_ended && !is_down_within(kSettleTime)) {
    // A call that came just before the shutdown may have begun only now.
    if (calls_->WaitUntilIdle(std::chrono::steady_clock::now())) {
      grpc_server_cancel_all_calls(server_->c_server());
      break;
    }
    all_ended = calls_->WaitUntilIdle(deadline);
  }
  shutdown.wait();
  return all_ended;
}

}  // namespace semrank
