// The pages that probes and scrapers read.
//
//   /metrics  Prometheus' text format
//   /healthz  200 while the process lives
//   /readyz   200 while a model is loaded and the server is not draining, else
//             503 with the reason
#ifndef SEMRANK_SERVER_HTTP_OPERATOR_PAGES_H_
#define SEMRANK_SERVER_HTTP_OPERATOR_PAGES_H_

#include "server/base/lifecycle.h"
#include "server/base/metrics.h"
#include "server/http/http_server.h"

namespace semrank {

// Both must outlive the server that shows the pages.
HttpPages OperatorPages(const Lifecycle* lifecycle, const Metrics* metrics);

}  // namespace semrank

#endif  // SEMRANK_SERVER_HTTP_OPERATOR_PAGES_H_
