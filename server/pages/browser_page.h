// What all pages for browsers have: a strict policy, and the links to the
// others.
#ifndef SEMRANK_SERVER_PAGES_BROWSER_PAGE_H_
#define SEMRANK_SERVER_PAGES_BROWSER_PAGE_H_

#include <string>
#include <string_view>

#include "server/http/http_routes.h"

namespace semrank {

inline constexpr char kHtmlType[] = "text/html; charset=utf-8";

// A page may run and contact only this server's own files. Titles and names on
// the pages come from users, so the policy holds even if one was not escaped.
HttpResponse GuardedPage(std::string content_type, std::string body);
// The same for HTML.
HttpResponse BrowserPage(std::string html);
// The top of the page at `path`, with links to the others.
std::string PageHeader(std::string_view path);

}  // namespace semrank

#endif  // SEMRANK_SERVER_PAGES_BROWSER_PAGE_H_
