#include "server/rpc/health_server.h"

#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <chrono>

#include "absl/strings/str_format.h"
#include "server/rpc/grpc_log.h"

namespace semrank {
namespace {

constexpr const char* kHealthNames[] = {
    "semrank.v1.RankingService", "semrank.v1.EmbeddingService",
    "semrank.v1.CatalogService", "semrank.v1.ModelService"};

}  // namespace

void ReportServing(grpc::Server& server) {
  for (const char* name : kHealthNames) {
    server.GetHealthCheckService()->SetServingStatus(name, true);
  }
}

std::string WithPort(const std::string& address, int port) {
  return absl::StrFormat("%s:%d", address.substr(0, address.rfind(':')), port);
}

absl::StatusOr<std::unique_ptr<HealthServer>> HealthServer::Start(
    const std::string& address) {
  std::unique_ptr<HealthServer> health(new HealthServer);
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  {
    const QuietGrpcLog quiet;
    health->server_ = builder.BuildAndStart();
  }
  if (health->server_ == nullptr || port == 0) {
    return absl::UnavailableError(absl::StrFormat(
        "cannot listen for health checks on %s (--health_address)", address));
  }
  health->address_ = WithPort(address, port);
  ReportServing(*health->server_);
  return health;
}

HealthServer::~HealthServer() {
  if (server_ == nullptr) return;
  // At once: watches never end by themselves.
  server_->Shutdown(std::chrono::system_clock::now());
}

void HealthServer::ReportNotServing() {
  server_->GetHealthCheckService()->Shutdown();
}

}  // namespace semrank
