// The pages of the HTTP port; /statusz is in status_page.h.
//
//   /metrics       Prometheus' text format
//   /healthz       200 while the process lives
//   /readyz        200 while the server is ready, else 503 with the reason
//   /health        as /readyz, for clients of Text Embeddings Inference
//   /openapi.json  the API for tools
//   /, /api, /pages/...
//                  the playground, the readable API and their files: plain
//                  HTML, CSS and ES modules. They call the JSON API with the
//                  user's key and load nothing from elsewhere: the
//                  Content-Security-Policy allows this server's own files, and
//                  no inline script or style.
//
//   Threads  any threads may call the pages, several at once.
#ifndef SEMRANK_SERVER_PAGES_PAGES_H_
#define SEMRANK_SERVER_PAGES_PAGES_H_

#include <cstdint>
#include <string>

#include "server/base/lifecycle.h"
#include "server/base/limits.h"
#include "server/base/metrics.h"
#include "server/http/http_routes.h"

namespace semrank {

// The pages up to /health. Both pointers must outlive them.
HttpPages OperatorPages(const Lifecycle* lifecycle, const Metrics* metrics);
// "/openapi.json".
void AddOpenApi(HttpPages& pages);

struct PlaygroundOptions {
  // HOST:PORT of gRPC, which the page shows in its snippets.
  std::string grpc_address;
  // Whether callers need a key, which a form without JavaScript cannot send.
  bool needs_key = false;
  // Whether the page reports its lists and the results that are opened.
  bool keeps_events = false;
  // The page never asks a search for more hits.
  std::int64_t max_top_k = Limits().max_top_k;
};

// "/", "/api" and "/pages/..."; and "/?", where the playground's form goes
// without JavaScript, as a call that runs "/v1/search" of `calls`.
void AddBrowserPages(const PlaygroundOptions& options, HttpPages& pages,
                     HttpCalls& calls);

}  // namespace semrank

#endif  // SEMRANK_SERVER_PAGES_PAGES_H_
