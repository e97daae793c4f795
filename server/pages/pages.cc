#include "server/pages/pages.h"

#include <utility>

#include "absl/strings/str_replace.h"
#include "model/base/strings.h"
#include "server/pages/embedded_files.h"

namespace semrank {
namespace {

// A page may run and contact only this server's own files. Titles and names on
// the pages come from users, so the policy holds even if one was not escaped.
HttpResponse Guarded(std::string content_type, std::string body) {
  return {
      .content_type = std::move(content_type),
      .body = std::move(body),
      .headers = {{"Content-Security-Policy",
                   "default-src 'none'; script-src 'self'; style-src 'self'; "
                   "connect-src 'self'; img-src data:; base-uri 'none'; "
                   "form-action 'none'; frame-ancestors 'none'"},
                  {"Referrer-Policy", "no-referrer"}}};
}

HttpPage FilePage(std::string_view file, std::string content_type) {
  return [body = EmbeddedFile(file), type = std::move(content_type)] {
    return Guarded(type, std::string(body));
  };
}

}  // namespace

HttpPages OperatorPages(const Lifecycle* lifecycle, const Metrics* metrics) {
  HttpPages pages;
  pages["/metrics"] = [metrics]() -> HttpResponse {
    return {.content_type = "text/plain; version=0.0.4; charset=utf-8",
            .body = metrics->Render()};
  };
  // A liveness probe must not restart a server that loads or drains, so the
  // page answers 200 to the end.
  pages["/healthz"] = []() -> HttpResponse { return {.body = "ok\n"}; };
  const HttpPage ready = [lifecycle]() -> HttpResponse {
    const Lifecycle::State state = lifecycle->state();
    return {.status = state == Lifecycle::State::kServing ? 200 : 503,
            .body = std::string(Lifecycle::Description(state)) + "\n"};
  };
  pages["/readyz"] = ready;
  pages["/health"] = ready;
  return pages;
}

HttpResponse BrowserPage(std::string html) {
  return Guarded("text/html; charset=utf-8", std::move(html));
}

void AddBrowserPages(std::string_view grpc_address, HttpPages& pages) {
  const std::string_view port =
      grpc_address.substr(grpc_address.rfind(':') + 1);
  // The page shows the port in its snippets.
  pages["/"] = [html = absl::StrReplaceAll(ToAbsl(EmbeddedFile("index.html")),
                                           {{"{{grpc_port}}", ToAbsl(port)}})] {
    return BrowserPage(html);
  };
  pages["/api"] = FilePage("api.html", "text/html; charset=utf-8");
  pages["/pages/style.css"] = FilePage("style.css", "text/css; charset=utf-8");
  for (const std::string_view script : {"api.js", "client.js", "explanation.js",
                                        "playground.js", "snippets.js"}) {
    pages["/pages/" + std::string(script)] =
        FilePage(script, "text/javascript; charset=utf-8");
  }
}

void AddOpenApi(HttpPages& pages) {
  pages["/openapi.json"] = FilePage("openapi.json", "application/json");
}

}  // namespace semrank
