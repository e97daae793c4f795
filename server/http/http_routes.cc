#include "server/http/http_routes.h"

namespace semrank {

const HttpPage* HttpRoutes::FindPage(std::string_view path) const {
  const auto page = pages.find(path);
  return page == pages.end() ? nullptr : &page->second;
}

const HttpCall* HttpRoutes::FindCall(std::string_view path,
                                     std::string_view query) const {
  if (!query.empty()) {
    const auto with_query = calls.find(std::string(path) + "?");
    if (with_query != calls.end()) return &with_query->second;
  }
  const auto call = calls.find(path);
  if (call != calls.end()) return &call->second;
  // A longer prefix follows a shorter one. (Not std::views::reverse: clang 14
  // cannot compile that of GCC 12.)
  for (auto other = calls.rbegin(); other != calls.rend(); ++other) {
    const std::string& prefix = other->first;
    if (prefix.ends_with('/') && path.starts_with(prefix)) {
      return &other->second;
    }
  }
  return nullptr;
}

// A person who mistypes a path sees the right one.
HttpResponse HttpRoutes::NotFound() const {
  std::string body = "no such page; there are:\n";
  for (const auto& [path, page] : pages) body += path + "\n";
  for (const auto& [path, call] : calls) {
    if (!call.handle && !call.open_stream) continue;
    if (path.ends_with('?')) continue;  // It is listed as a page.
    body += (call.takes_get ? "GET, POST " : "POST ") + path + "\n";
  }
  return {.status = 404, .body = std::move(body)};
}

}  // namespace semrank
