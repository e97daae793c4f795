// What the gRPC services work with.
#ifndef SEMRANK_SERVER_REQUESTS_RPC_ENVIRONMENT_H_
#define SEMRANK_SERVER_REQUESTS_RPC_ENVIRONMENT_H_

#include "server/base/admission.h"
#include "server/base/connection_count.h"
#include "server/base/lifecycle.h"
#include "server/base/metrics.h"
#include "server/base/worker_pool.h"
#include "server/catalog/catalog_searcher.h"
#include "server/catalog/catalog_writer.h"
#include "server/models/model_store.h"
#include "server/ranking/ranking_engine.h"
#include "server/vectors/embedding_engine.h"

namespace semrank {

class AccessControl;
class CallTracker;
class RequestLog;

// Everything outlives the server, but `calls`, which is the server's own.
struct RpcEnvironment {
  const RankingEngine* ranking = nullptr;
  const EmbeddingEngine* embedding = nullptr;
  const CatalogWriter* catalog_writer = nullptr;
  const CatalogSearcher* catalog_searcher = nullptr;
  ModelStore* models = nullptr;
  const Lifecycle* lifecycle = nullptr;
  Admission* admission = nullptr;
  ConnectionCount* connections = nullptr;
  WorkerPool* workers = nullptr;
  // Where models are loaded: one after another, beside the workers.
  WorkerPool* loader = nullptr;
  Metrics* metrics = nullptr;
  // Null = everyone may call everything.
  const AccessControl* access = nullptr;
  // Null = nothing is written or remembered.
  RequestLog* request_log = nullptr;
  // ReloadModel may be called.
  bool admin_rpcs = false;
  CallTracker* calls = nullptr;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_RPC_ENVIRONMENT_H_
