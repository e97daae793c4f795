#include "server/http/http_routes.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "model/base/strings.h"

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

// A "%" without two digits stands for itself. "+" is a blank only in the fields
// of a form, so it is left to the page that reads them.
std::string PercentDecode(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view digits = text.substr(i + 1).substr(0, 2);
    const bool encoded = text[i] == '%' && digits.size() == 2 &&
                         absl::ascii_isxdigit(digits[0]) &&
                         absl::ascii_isxdigit(digits[1]);
    decoded += encoded ? absl::HexStringToBytes(ToAbsl(digits))
                       : std::string(1, text[i]);
    if (encoded) i += 2;
  }
  return decoded;
}

}  // namespace semrank
