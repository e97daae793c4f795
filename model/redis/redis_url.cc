#include "model/redis/redis_url.h"

#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

constexpr std::string_view kScheme = "redis://";
constexpr std::string_view kTlsScheme = "rediss://";
constexpr int kMaxDb = 1'000'000;

// Only user and password are unescaped: a host and a number need no escapes.
absl::StatusOr<std::string> Unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    int byte = 0;
    if (text.size() - i < 3 ||
        !absl::SimpleHexAtoi(std::string(text.substr(i + 1, 2)), &byte)) {
      return absl::InvalidArgumentError(
          "has a % in user or password that two hex digits do not follow");
    }
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

bool ParseNumber(std::string_view text, int min, int max, int& number) {
  return absl::SimpleAtoi(std::string(text), &number) && number >= min &&
         number <= max;
}

// The part before the colon may be empty: Redis then uses its default user, to
// which passwords without a user belong.
absl::Status ParseCredentials(std::string_view text, RedisUrl& url) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    return absl::InvalidArgumentError(
        "must have user:password or :password before the @");
  }
  SEMRANK_ASSIGN_OR_RETURN(url.user, Unescape(text.substr(0, colon)));
  SEMRANK_ASSIGN_OR_RETURN(url.password, Unescape(text.substr(colon + 1)));
  return absl::OkStatus();
}

// Parses host, host:port, [IPv6] or [IPv6]:port.
absl::Status ParseServer(std::string_view text, RedisUrl& url) {
  // The colons of an IPv6 address precede the bracket.
  const std::size_t bracket = text.rfind(']');
  const std::size_t colon =
      text.find(':', bracket == std::string_view::npos ? 0 : bracket);
  std::string_view host = text.substr(0, colon);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  if (host.empty()) return absl::InvalidArgumentError("has no host");
  url.host = host;
  if (colon != std::string_view::npos &&
      !ParseNumber(text.substr(colon + 1), 1,
                   std::numeric_limits<std::uint16_t>::max(), url.port)) {
    return absl::InvalidArgumentError("must have a port from 1 to 65535");
  }
  return absl::OkStatus();
}

}  // namespace

// No error quotes the text, because an operator may paste the message anywhere
// and the text has the password.
absl::StatusOr<RedisUrl> ParseRedisUrl(std::string_view text) {
  RedisUrl url;
  url.tls = text.starts_with(kTlsScheme);
  if (!url.tls && !text.starts_with(kScheme)) {
    return absl::InvalidArgumentError("must begin with redis:// or rediss://");
  }
  text.remove_prefix((url.tls ? kTlsScheme : kScheme).size());
  // A password may contain an unescaped @.
  const std::size_t at = text.rfind('@');
  if (at != std::string_view::npos) {
    SEMRANK_RETURN_IF_ERROR(ParseCredentials(text.substr(0, at), url));
    text.remove_prefix(at + 1);
  }
  // Only after the credentials are removed, which may contain a slash.
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    const std::string_view db = text.substr(slash + 1);
    if (!db.empty() && !ParseNumber(db, 0, kMaxDb, url.db)) {
      return absl::InvalidArgumentError(
          "must have the number of a database after the last /");
    }
    text = text.substr(0, slash);
  }
  SEMRANK_RETURN_IF_ERROR(ParseServer(text, url));
  return url;
}

// The name of the server in logs and errors, hence without user and password.
std::string NameOf(const RedisUrl& url) {
  const bool is_v6 = url.host.find(':') != std::string::npos;
  const std::string host = is_v6 ? "[" + url.host + "]" : url.host;
  return absl::StrFormat("%s%s:%d/%d", url.tls ? kTlsScheme : kScheme, host,
                         url.port, url.db);
}

std::string WithoutPassword(const std::string& text) {
  const std::size_t begin = text.find("://");
  // The last @ ends them: a password may contain others.
  const std::size_t at = text.rfind('@');
  if (begin == std::string::npos || at == std::string::npos) return text;
  return text.substr(0, begin + 3) + "***" + text.substr(at);
}

}  // namespace semrank
