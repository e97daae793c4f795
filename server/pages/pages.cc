#include "server/pages/pages.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "model/base/strings.h"
#include "server/pages/browser_page.h"
#include "server/pages/embedded_files.h"

namespace semrank {
namespace {

// A file whose header, if it has one, marks the page as the current one.
HttpPage FilePage(std::string_view file, std::string_view path,
                  std::string_view content_type) {
  std::string body = absl::StrReplaceAll(ToAbsl(EmbeddedFile(file)),
                                         {{"{{header}}", PageHeader(path)}});
  return [body = std::move(body), type = std::string(content_type)] {
    return GuardedPage(type, body);
  };
}

// Empty for files that are not below /pages/.
std::string_view ContentTypeOf(std::string_view file) {
  if (file.ends_with(".css")) return "text/css; charset=utf-8";
  if (file.ends_with(".js")) return "text/javascript; charset=utf-8";
  return "";
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

void AddBrowserPages(const PlaygroundOptions& options, HttpPages& pages,
                     HttpCalls& calls) {
  const SearchPage playground(options);
  pages["/"] = [playground] { return playground.Empty(); };
  const auto search = calls.find("/v1/search");
  if (!options.needs_key && search != calls.end()) {
    calls["/?"] = playground.Call(search->second);
  }
  pages["/api"] = FilePage("api.html", "/api", kHtmlType);
  for (const std::string_view file : EmbeddedFileNames()) {
    const std::string_view type = ContentTypeOf(file);
    if (type.empty()) continue;
    const std::string path = absl::StrCat("/pages/", ToAbsl(file));
    pages[path] = FilePage(file, path, type);
  }
}

void AddOpenApi(HttpPages& pages) {
  pages["/openapi.json"] =
      FilePage("openapi.json", "/openapi.json", "application/json");
}

}  // namespace semrank
