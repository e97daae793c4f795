// /statusz: state, models, load, the calls of the last minutes, limits and last
// failures as HTML without scripts. It shows codes and reasons, never a
// caller's text or key.
//
//   Threads  from any thread.
#ifndef SEMRANK_SERVER_PAGES_STATUS_PAGE_H_
#define SEMRANK_SERVER_PAGES_STATUS_PAGE_H_

#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "server/base/admission.h"
#include "server/base/connection_count.h"
#include "server/base/lifecycle.h"
#include "server/base/limits.h"
#include "server/base/recent_calls.h"
#include "server/base/request_log.h"
#include "server/catalog/sync/change_follower.h"
#include "server/catalog/sync/synced_catalog.h"
#include "server/http/http_routes.h"
#include "server/models/model_store.h"
#include "server/vectors/document_vector_cache.h"
#include "server/vectors/stored_vectors.h"

namespace semrank {

// All outlive the page.
struct StatusSources {
  const Lifecycle* lifecycle = nullptr;
  const ModelStore* models = nullptr;
  const DocumentVectorCache* cache = nullptr;
  const Admission* admission = nullptr;
  const ConnectionCount* connections = nullptr;
  const Limits* limits = nullptr;
  const RequestLog* request_log = nullptr;
  const SyncedCatalog* catalog = nullptr;
  const StoredVectors* stored = nullptr;  // null = no store
  const RecentCalls* recent_calls = nullptr;
  const ChangeFollower* changes = nullptr;  // null = no store that is shared
};

// Puts it among `pages` as /statusz; uptime is counted from here.
void AddStatusPage(const StatusSources& sources, HttpPages& pages);

// HTML.
std::string StatusPage(const StatusSources& sources, absl::Duration uptime);

// `text` with &, <, > and " so that it stays text.
std::string EscapeHtml(std::string_view text);

}  // namespace semrank

#endif  // SEMRANK_SERVER_PAGES_STATUS_PAGE_H_
