// The gRPC side of the server: build, start, health, drain, stop.
//
//   Services  ranking, embedding, catalog, model; grpc.health.v1 (Check and
//             Watch, for "" and each service); reflection (v1alpha).
//   Ports     one, TLS or plain text; not shared, so a second server on the
//             same port fails to start instead of taking half the calls.
//             Connections beyond ServerParts::connections are closed at once.
//   Threads   gRPC's own and one that accepts; call Start, ReportNotServing and
//             Stop from one thread.
#ifndef SEMRANK_SERVER_RPC_RPC_SERVER_H_
#define SEMRANK_SERVER_RPC_RPC_SERVER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/base/log_throttle.h"
#include "server/base/periodic_task.h"
#include "server/base/unread_responses.h"
#include "server/requests/server_parts.h"
#include "server/rpc/connection_listener.h"
#include "server/rpc/open_calls.h"
#include "server/rpc/socket_transfer.h"

namespace grpc {
class Server;
class ServerCredentials;
class Service;
}  // namespace grpc

namespace semrank {

class TlsCertificates;

struct RpcServerOptions {
  // HOST:PORT; port 0 = any free one.
  std::string listen_address;
  // Null = plain text. Must outlive the server.
  const TlsCertificates* tls = nullptr;
  absl::Duration handshake_timeout = kHandshakeTimeout;
  // A connection that is older gets a GOAWAY and is closed when its calls have
  // ended. gRPC spreads it by 10 %. 0 = connections may stay.
  absl::Duration max_connection_age = kMaxConnectionAge;
  // Over this, connections that flood the server are closed (MemoryWatchdog);
  // 0 = none is closed for it.
  std::int64_t max_memory_bytes = 0;
  absl::Duration send_timeout = kSendTimeout;
};

class RpcServer {
 public:
  // Unavailable when the address cannot be listened on. If the lifecycle is not
  // ready, health is NOT_SERVING until ReportServing, and calls that need a
  // model are UNAVAILABLE.
  static absl::StatusOr<std::unique_ptr<RpcServer>> Start(
      const RpcServerOptions& options, const ServerParts& parts);
  // Stops at once if Stop was not called.
  ~RpcServer();
  RpcServer(const RpcServer&) = delete;
  RpcServer& operator=(const RpcServer&) = delete;

  // HOST:PORT with the port that is in use.
  const std::string& address() const { return listener_->address(); }

  // Check and Watch answer SERVING for every service from now on.
  void ReportServing();

  // Check and Watch answer NOT_SERVING for every service from now on, so that
  // load balancers stop sending; calls are still answered.
  void ReportNotServing();

  // Refuses new connections and, with DRAINING, new calls; waits at most
  // `timeout` for the calls that run and for their clients to read the
  // responses; then cancels the others. Returns once every call has ended;
  // false when some had to be cancelled.
  bool Stop(absl::Duration timeout);

 private:
  RpcServer(UnreadResponses* unread, absl::Duration send_timeout);

  // Cancels calls whose clients do not read their responses.
  void CutUnread();

  UnreadResponses& unread_;
  // In this order, so that the server is destroyed first and what calls use
  // last.
  OpenCalls calls_;
  std::vector<std::unique_ptr<grpc::Service>> services_;
  std::unique_ptr<ConnectionListener> listener_;
  std::shared_ptr<grpc::ServerCredentials> credentials_;
  std::unique_ptr<grpc::Server> server_;
  bool stopped_ = false;
  LogThrottle cut_log_{/*max_lines_per_second=*/1};
  // The last member, so that it ends before the calls that it looks at.
  std::unique_ptr<PeriodicTask> cutter_;
  int subscription_ = 0;  // to unread_, which wakes the cutter
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_RPC_SERVER_H_
