// The parts of the server that requests are answered with.
#ifndef SEMRANK_SERVER_REQUESTS_SERVER_PARTS_H_
#define SEMRANK_SERVER_REQUESTS_SERVER_PARTS_H_

#include "server/base/admission.h"
#include "server/base/connection_count.h"
#include "server/base/lifecycle.h"
#include "server/base/limits.h"
#include "server/base/metrics.h"
#include "server/base/worker_pool.h"
#include "server/catalog/search/catalog_searcher.h"
#include "server/catalog/sync/catalog_writer.h"
#include "server/models/model_store.h"
#include "server/ranking/ranking_engine.h"
#include "server/vectors/embedding_engine.h"

namespace semrank {

class AccessControl;
class RequestLog;

// Every part must outlive the servers and the requests that use it.
struct ServerParts {
  Limits limits = {};
  const RankingEngine* ranking = nullptr;
  const EmbeddingEngine* embedding = nullptr;
  const CatalogWriter* catalog_writer = nullptr;
  const CatalogSearcher* catalog_searcher = nullptr;
  ModelStore* models = nullptr;
  const Lifecycle* lifecycle = nullptr;
  Admission* admission = nullptr;
  ConnectionCount* connections = nullptr;
  WorkerPool* workers = nullptr;
  // Loads models, one after another, so that loading never occupies a worker.
  WorkerPool* loader = nullptr;
  Metrics* metrics = nullptr;
  // Null = every caller may call every method.
  const AccessControl* access = nullptr;
  // Null = requests are not logged.
  RequestLog* request_log = nullptr;
  // Whether ReloadModel may be called.
  bool admin_rpcs = false;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_SERVER_PARTS_H_
