// The state of a server for operators: /statusz shows it as HTML without
// scripts, and /metrics has gauges and counters of it. They show codes and
// reasons, never a text or a key of a caller.
#ifndef SEMRANK_SERVER_PAGES_STATUS_PAGE_H_
#define SEMRANK_SERVER_PAGES_STATUS_PAGE_H_

#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "server/auth/tls_files.h"
#include "server/base/admission.h"
#include "server/base/connection_count.h"
#include "server/base/lifecycle.h"
#include "server/base/limits.h"
#include "server/base/recent_calls.h"
#include "server/base/request_log.h"
#include "server/catalog/sync/synced_catalog.h"
#include "server/http/http_routes.h"
#include "server/models/model_store.h"
#include "server/vectors/document_vector_cache.h"
#include "server/vectors/stored_vectors.h"

namespace semrank {

// The parts that are shown. They outlive the page and the metrics.
struct StatusSources {
  const Lifecycle* lifecycle = nullptr;
  const ModelStore* models = nullptr;
  const DocumentVectorCache* cache = nullptr;
  Admission* admission = nullptr;
  const ConnectionCount* connections = nullptr;
  const Limits* limits = nullptr;
  const RequestLog* request_log = nullptr;
  const SyncedCatalog* catalog = nullptr;
  const StoredVectors* stored = nullptr;  // null = no store
  const RecentCalls* recent_calls = nullptr;
  const TlsCertificates* certificates = nullptr;  // null = plain text
};

// Adds /statusz to `pages`. The uptime counts from this call.
void AddStatusPage(const StatusSources& sources, HttpPages& pages);

// The page as HTML.
std::string StatusPage(const StatusSources& sources, absl::Duration uptime);

// Replaces &, <, > and " by their entities.
std::string EscapeHtml(std::string_view text);

}  // namespace semrank

#endif  // SEMRANK_SERVER_PAGES_STATUS_PAGE_H_
