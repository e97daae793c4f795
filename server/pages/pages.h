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
#ifndef SEMRANK_SERVER_PAGES_PAGES_H_
#define SEMRANK_SERVER_PAGES_PAGES_H_

#include <string>
#include <string_view>

#include "server/base/lifecycle.h"
#include "server/base/metrics.h"
#include "server/http/http_routes.h"

namespace semrank {

// The pages up to /health. Both pointers must outlive them.
HttpPages OperatorPages(const Lifecycle* lifecycle, const Metrics* metrics);
// "/openapi.json".
void AddOpenApi(HttpPages& pages);
// "/", "/api" and "/pages/...". The playground shows calls to the gRPC port of
// `grpc_address`, HOST:PORT.
void AddBrowserPages(std::string_view grpc_address, HttpPages& pages);

// HTML with the headers that all pages for browsers have.
HttpResponse BrowserPage(std::string html);

}  // namespace semrank

#endif  // SEMRANK_SERVER_PAGES_PAGES_H_
