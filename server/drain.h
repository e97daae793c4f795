// How the server stops, in the order that load balancers and callers need.
#ifndef SEMRANK_SERVER_DRAIN_H_
#define SEMRANK_SERVER_DRAIN_H_

#include <memory>

#include "server/base/lifecycle.h"
#include "server/http/http_server.h"
#include "server/options.h"
#include "server/rpc/health_server.h"
#include "server/rpc/rpc_server.h"

namespace semrank {

// Everything that listens.
struct Listeners {
  std::unique_ptr<HttpServer> http = {};
  std::unique_ptr<RpcServer> rpc = {};
  std::unique_ptr<HealthServer> health = {};  // null = none of its own
};

// Says NOT_SERVING, answers on for --drain_delay, refuses what is new, lets
// running calls end within --drain_timeout, cancels the rest, closes. Ends the
// process with exit code 1 when that takes seconds longer than it may.
void Drain(const ServerOptions& options, Lifecycle& lifecycle,
           Listeners listeners);

}  // namespace semrank

#endif  // SEMRANK_SERVER_DRAIN_H_
