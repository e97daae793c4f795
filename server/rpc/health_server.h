// grpc.health.v1 alone, in plain text on a port of its own: for probes that
// cannot show a client certificate, as a TLS server may ask for.
//
//   Threads  gRPC's own and one that accepts; call the methods from one thread.
#ifndef SEMRANK_SERVER_RPC_HEALTH_SERVER_H_
#define SEMRANK_SERVER_RPC_HEALTH_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/base/connection_count.h"
#include "server/base/lifecycle.h"
#include "server/rpc/connection_listener.h"

namespace grpc {
class Server;
}  // namespace grpc

namespace semrank {

// Sets the health of every service to SERVING or NOT_SERVING.
void ReportHealth(grpc::Server& server, bool serving);

class HealthServer {
 public:
  // Probes are short and few.
  static constexpr int kMaxConnections = 64;

  // `address` is HOST:PORT; port 0 = any free one. Unavailable when it cannot
  // be listened on. Health is SERVING if `lifecycle` is ready, else NOT_SERVING
  // until ReportServing. Start an RpcServer before it, which enables gRPC's
  // health service for the whole process.
  static absl::StatusOr<std::unique_ptr<HealthServer>> Start(
      const std::string& address, const Lifecycle& lifecycle);
  ~HealthServer();
  HealthServer(const HealthServer&) = delete;
  HealthServer& operator=(const HealthServer&) = delete;

  const std::string& address() const { return listener_->address(); }

  void ReportServing() { ReportHealth(*server_, true); }
  // Final: the health never becomes SERVING again.
  void ReportNotServing();

 private:
  HealthServer() = default;

  ConnectionCount connections_{kMaxConnections};
  std::unique_ptr<ConnectionListener> listener_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_HEALTH_SERVER_H_
