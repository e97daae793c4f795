#include "server/pages/browser_page.h"

#include <utility>

#include "absl/strings/str_format.h"

namespace semrank {

// 'self' for scripts excludes inline ones, so that a title with markup runs
// nothing even if a page forgot to escape it. The icon is an empty data:
// address, for which browsers make no request. No other site may show a page in
// a frame, where it could make users click.
HttpResponse GuardedPage(std::string content_type, std::string body) {
  return {
      .content_type = std::move(content_type),
      .body = std::move(body),
      .headers = {{"Content-Security-Policy",
                   "default-src 'none'; script-src 'self'; style-src 'self'; "
                   "connect-src 'self'; img-src data:; base-uri 'none'; "
                   "form-action 'self'; frame-ancestors 'none'"},
                  {"Referrer-Policy", "no-referrer"}}};
}

HttpResponse BrowserPage(std::string html) {
  return GuardedPage(kHtmlType, std::move(html));
}

std::string PageHeader(std::string_view path) {
  constexpr std::pair<const char*, const char*> kPages[] = {
      {"/", "Playground"},
      {"/api", "API"},
      {"/statusz", "Status"},
      {"/metrics", "Metrics"}};
  std::string header =
      "<header><a class=\"brand\" href=\"/\">semrank</a>"
      "<nav aria-label=\"Pages\">";
  for (const auto& [link, name] : kPages) {
    // Screen readers say which of the links is the current page.
    absl::StrAppendFormat(&header, "<a href=\"%s\"%s>%s</a>", link,
                          link == path ? " aria-current=\"page\"" : "", name);
  }
  return header + "</nav></header>";
}

}  // namespace semrank
