#include "server/rpc/health_server.h"

#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"
#include "server/requests/methods.h"
#include "server/rpc/socket_transfer.h"

namespace semrank {

void ReportHealth(grpc::Server& server, bool serving) {
  grpc::HealthCheckServiceInterface& health = *server.GetHealthCheckService();
  for (const std::string_view name : ServiceNames()) {
    health.SetServingStatus(std::string(name), serving);
  }
  health.SetServingStatus(serving);  // "" too
}

// The port listens before the server is built, so an address in use is reported
// by its own error; connections wait in the kernel until Start.
absl::StatusOr<std::unique_ptr<HealthServer>> HealthServer::Start(
    const std::string& address, const Lifecycle& lifecycle) {
  std::unique_ptr<HealthServer> health(new HealthServer);
  auto listener = ConnectionListener::Listen(address, &health->connections_);
  if (!listener.ok()) {
    return absl::UnavailableError(absl::StrFormat(
        "cannot listen for health checks on %s (--health_address): %s", address,
        listener.status().message()));
  }
  health->listener_ = *std::move(listener);
  grpc::ServerBuilder builder;
  auto take = AcceptExternalConnections(
      builder, grpc::InsecureServerCredentials(), kHandshakeTimeout);
  health->server_ = builder.BuildAndStart();
  if (health->server_ == nullptr) {
    return absl::InternalError("gRPC does not start a server for health");
  }
  // gRPC reports SERVING from the start; no client is connected yet.
  ReportHealth(*health->server_, lifecycle.ready());
  health->listener_->Start(std::move(take));
  return health;
}

// The listener stops first: it must not hand connections to a server that is
// shut down.
HealthServer::~HealthServer() {
  if (server_ == nullptr) return;
  listener_->StopListening();
  // Shutdown does not wait, since watches never end by themselves.
  server_->Shutdown(std::chrono::system_clock::now());
}

// gRPC's Shutdown of the health service is final, also for SetServingStatus.
void HealthServer::ReportNotServing() {
  server_->GetHealthCheckService()->Shutdown();
}

}  // namespace semrank
