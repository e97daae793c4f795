// The parts of the server that requests are answered with and that pages and
// metrics show.
#ifndef SEMRANK_SERVER_REQUESTS_SERVER_PARTS_H_
#define SEMRANK_SERVER_REQUESTS_SERVER_PARTS_H_

#include "server/base/admission.h"
#include "server/base/connection_count.h"
#include "server/base/lifecycle.h"
#include "server/base/limits.h"
#include "server/base/metrics.h"
#include "server/base/worker_pool.h"
#include "server/catalog/sync/synced_catalog.h"
#include "server/models/model_store.h"
#include "server/ranking/experiments.h"
#include "server/ranking/ranking_engine.h"
#include "server/vectors/embedding_engine.h"

namespace semrank {

class AccessControl;
class DocumentVectorCache;
class EventLog;
class RecentCalls;
class RequestLog;
class ShadowRanker;
class StoredVectors;
class TlsCertificates;
class UnreadResponses;

// Every part must outlive the servers, requests, pages and metrics that use it.
struct ServerParts {
  Limits limits = {};
  const RankingEngine* ranking = nullptr;
  const EmbeddingEngine* embedding = nullptr;
  const SyncedCatalog* catalog = nullptr;
  ModelStore* models = nullptr;
  const Lifecycle* lifecycle = nullptr;
  Admission* admission = nullptr;
  ConnectionCount* connections = nullptr;
  UnreadResponses* unread = nullptr;
  WorkerPool* workers = nullptr;
  // Writes to the catalog, so that waiting for the store, or for the write
  // before, never occupies a worker.
  WorkerPool* writers = nullptr;
  // Loads models, one after another, so that loading never occupies a worker.
  WorkerPool* loader = nullptr;
  Metrics* metrics = nullptr;
  const RecentCalls* recent_calls = nullptr;
  const DocumentVectorCache* cache = nullptr;
  const StoredVectors* stored = nullptr;  // null = no document store
  EventLog* events = nullptr;             // null = no --events
  Experiments experiments = {};
  ShadowRanker* shadow = nullptr;                 // null = no --shadow
  const TlsCertificates* certificates = nullptr;  // null = plain text
  // Null = every caller may call every method.
  const AccessControl* access = nullptr;
  // Null = requests are not logged.
  RequestLog* request_log = nullptr;
  // Whether ReloadModel may be called.
  bool admin_rpcs = false;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_SERVER_PARTS_H_
