// The pages for probes and scrapers.
//
//   /metrics  Prometheus' text format
//   /healthz  200 while the process lives
//   /health   as /readyz, for clients of Text Embeddings Inference
//   /readyz   200 while a model is loaded and the server is not draining, else
//             503 with the reason
//   Threads   from any thread.
#ifndef SEMRANK_SERVER_PAGES_OPERATOR_PAGES_H_
#define SEMRANK_SERVER_PAGES_OPERATOR_PAGES_H_

#include "server/base/lifecycle.h"
#include "server/base/metrics.h"
#include "server/http/http_routes.h"

namespace semrank {

// Both must outlive the pages.
HttpPages OperatorPages(const Lifecycle* lifecycle, const Metrics* metrics);

}  // namespace semrank

#endif  // SEMRANK_SERVER_PAGES_OPERATOR_PAGES_H_
