// Pages for people in a browser: the playground, the readable API and their
// files. They are plain HTML, CSS and ES modules, call the JSON API with the
// user's key, and load nothing from elsewhere: the Content-Security-Policy
// allows this server's own files only, no inline script or style.
//
//   Threads  the pages, from any thread.
#ifndef SEMRANK_SERVER_PAGES_BROWSER_PAGES_H_
#define SEMRANK_SERVER_PAGES_BROWSER_PAGES_H_

#include <string>
#include <string_view>

#include "server/http/http_routes.h"

namespace semrank {

// "/", "/api" and "/pages/...". The playground shows calls to the gRPC port of
// `grpc_address`, HOST:PORT.
void AddBrowserPages(std::string_view grpc_address, HttpPages& pages);
// "/openapi.json", for tools too.
void AddOpenApi(HttpPages& pages);

// HTML with the headers that all pages for browsers have.
HttpResponse BrowserPage(std::string html);

}  // namespace semrank

#endif  // SEMRANK_SERVER_PAGES_BROWSER_PAGES_H_
