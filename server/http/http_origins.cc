#include "server/http/http_origins.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "model/base/strings.h"
#include "server/base/errors.h"
#include "server/base/request_identity.h"
#include "server/http/http_responses.h"

namespace semrank {
namespace {

// How long browsers may keep the answer to a preflight.
constexpr int kPreflightSeconds = 600;

// Returns HOST[:PORT] of SCHEME://HOST[:PORT]; empty for other texts, as
// "null", which a browser sends for a page that was opened as a file.
std::string_view AuthorityOf(std::string_view origin) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) return origin.substr(scheme.size());
  }
  return {};
}

constexpr std::string_view kAnyName = "*";

// Returns the host without its port, brackets of IPv6 and the final dot of a
// complete name. "[::1]x" stays whole and is then neither an address nor a name
// that is served.
std::string_view WithoutPort(std::string_view host) {
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    const std::string_view rest = host.substr(std::min(end, host.size() - 1));
    const bool is_whole = rest == "]" || rest.starts_with("]:");
    return is_whole ? host.substr(1, end - 1) : host;
  }
  host = host.substr(0, host.rfind(':'));
  if (host.ends_with('.')) host.remove_suffix(1);
  return host;
}

// The address that a host is, if it is one or localhost.
std::optional<boost::asio::ip::address> AddressOf(std::string_view name) {
  if (absl::EqualsIgnoreCase(ToAbsl(name), "localhost")) {
    return boost::asio::ip::address_v4::loopback();
  }
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(std::string(name), error);
  if (error) return std::nullopt;
  return address;
}

// A flag to copy, with the value that a client sent. Only the flag when a shell
// might run a part of the value, such as $(...), or expand it.
std::string FlagToCopy(std::string_view flag, std::string_view value) {
  const bool is_plain = std::ranges::all_of(value, [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '-' || c == '.' || c == '_' ||
           c == ':' || c == '/';
  });
  return is_plain && !value.empty()
             ? absl::StrCat("--", ToAbsl(flag), "=", ToAbsl(value))
             : absl::StrCat("--", ToAbsl(flag));
}

// Whether `allowed` has the name, whatever its case, or "*".
bool Allows(const std::vector<std::string>& allowed, std::string_view name) {
  return std::ranges::any_of(allowed, [&](const std::string& one) {
    return one == kAnyName || absl::EqualsIgnoreCase(one, ToAbsl(name));
  });
}

}  // namespace

// The browser sets both headers; a page cannot forge them. The page of
// http://shop.example may come from anybody on the way, so it is not one of
// https://shop.example.
bool IsSameOrigin(std::string_view origin, std::string_view scheme,
                  std::string_view host) {
  const std::string_view authority = AuthorityOf(origin);
  return !authority.empty() &&
         absl::EqualsIgnoreCase(
             ToAbsl(origin), absl::StrCat(ToAbsl(scheme), "://", ToAbsl(host)));
}

bool IsAllowedOrigin(std::string_view origin,
                     const std::vector<std::string>& allowed) {
  return Allows(allowed, origin);
}

absl::Status OriginNotAllowed(const std::string& origin) {
  // A page that was opened as a file has the origin "null".
  const std::string flag = origin == "null"
                               ? "--cors_origins='*'"
                               : FlagToCopy("cors_origins", origin);
  return MakeError(
      absl::StatusCode::kPermissionDenied, "ORIGIN_NOT_ALLOWED",
      absl::StrFormat("calls of web pages of %s are not allowed; to allow "
                      "them, start the server with %s",
                      origin, flag),
      {{"flag", "cors_origins"}, {"origin", origin}});
}

// Names the page's own origin, since --cors_origins may allow several and the
// header takes one.
void AddCorsHeaders(const std::string& origin, HttpResponse& response) {
  response.headers.emplace_back("Access-Control-Allow-Origin", origin);
  response.headers.emplace_back("Vary", "Origin");
  response.headers.emplace_back(
      "Access-Control-Expose-Headers",
      absl::StrCat("Retry-After, ", kRequestIdHeader.data(), ", ",
                   kTraceparentHeader.data()));
}

HttpResponse PreflightResponse() {
  return {
      .status = 204,
      .headers = {{"Access-Control-Allow-Methods", "GET, POST"},
                  {"Access-Control-Allow-Headers",
                   absl::StrCat("Authorization, Content-Type, ",
                                kRequestIdHeader.data(), ", ",
                                kTraceparentHeader.data())},
                  {"Access-Control-Max-Age", absl::StrCat(kPreflightSeconds)}}};
}

absl::Status CheckOrigins(const std::vector<std::string>& origins) {
  for (const std::string& origin : origins) {
    const std::string_view authority = AuthorityOf(origin);
    if (origin != kAnyName &&
        (authority.empty() ||
         authority.find_first_of("/?# \t\r\n") != std::string_view::npos)) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "\"%s\" must be * or SCHEME://HOST[:PORT] without a path", origin));
    }
  }
  return absl::OkStatus();
}

std::vector<std::string> ServedHosts(
    std::string_view http_address, const std::vector<std::string>& server_names,
    const std::vector<std::string>& cors_origins) {
  const auto address = AddressOf(WithoutPort(http_address));
  const bool is_loopback = address.has_value() && address->is_loopback();
  if (server_names.empty() && !is_loopback) {
    return {std::string(kAnyName)};
  }
  std::vector<std::string> served = server_names;
  for (const std::string& origin : cors_origins) {
    served.emplace_back(origin == kAnyName ? kAnyName
                                           : WithoutPort(AuthorityOf(origin)));
  }
  return served;
}

// DNS rebinding needs a name whose address the attacker chooses, so IP
// addresses and "localhost" are accepted. HTTP/1.0 without a Host is accepted
// as well: browsers always send one.
absl::Status CheckHost(std::string_view host,
                       const std::vector<std::string>& served) {
  const std::string_view name = WithoutPort(host);
  if (host.empty() || Allows(served, name) || AddressOf(name).has_value()) {
    return absl::OkStatus();
  }
  const std::string shown = Shown(name);
  return MakeError(
      absl::StatusCode::kPermissionDenied, "HOST_NOT_ALLOWED",
      absl::StrFormat("this server does not answer as \"%s\"; to allow a name, "
                      "start the server with %s",
                      shown, FlagToCopy("server_names", shown)),
      {{"flag", "server_names"}, {"host", shown}});
}

absl::Status CheckServerNames(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const bool is_name =
        !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
          return absl::ascii_isalnum(c) || c == '.' || c == '-' || c == '_';
        });
    if (name != kAnyName && !is_name) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "\"%s\" must be * or the name of a host without a port", name));
    }
  }
  return absl::OkStatus();
}

}  // namespace semrank
