// What the gRPC services work with.
#ifndef SEMRANK_SERVER_RPC_RPC_ENVIRONMENT_H_
#define SEMRANK_SERVER_RPC_RPC_ENVIRONMENT_H_

#include "server/core/admission.h"
#include "server/core/lifecycle.h"
#include "server/core/metrics.h"
#include "server/core/model_store.h"
#include "server/core/ranking_engine.h"
#include "server/core/worker_pool.h"

namespace semrank {

class CallTracker;

// Everything outlives the server, but `calls`, which is the server's own.
struct RpcEnvironment {
  const RankingEngine* engine = nullptr;
  const ModelStore* models = nullptr;
  const Lifecycle* lifecycle = nullptr;
  Admission* admission = nullptr;
  WorkerPool* workers = nullptr;
  Metrics* metrics = nullptr;
  CallTracker* calls = nullptr;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_RPC_ENVIRONMENT_H_
