// The state of a server for operators: /statusz shows it as HTML, which is
// complete without its script, and /metrics has gauges and counters of it. They
// show codes and reasons, never a text or a key of a caller.
#ifndef SEMRANK_SERVER_PAGES_STATUS_PAGE_H_
#define SEMRANK_SERVER_PAGES_STATUS_PAGE_H_

#include <string>

#include "absl/time/time.h"
#include "server/http/http_routes.h"
#include "server/requests/server_parts.h"

namespace semrank {

// Adds /statusz to `pages`; the parts outlive it. The uptime counts from this
// call.
void AddStatusPage(const ServerParts& parts, HttpPages& pages);

// The page as HTML.
std::string StatusPage(const ServerParts& parts, absl::Duration uptime);

}  // namespace semrank

#endif  // SEMRANK_SERVER_PAGES_STATUS_PAGE_H_
