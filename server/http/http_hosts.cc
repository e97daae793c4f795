#include "server/http/http_hosts.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "model/base/strings.h"
#include "server/base/errors.h"
#include "server/http/http_origins.h"
#include "server/http/http_responses.h"

namespace semrank {
namespace {

constexpr std::string_view kAnyName = "*";

// Returns the host without its port, brackets of IPv6 and the final dot of a
// complete name.
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

bool IsLocalhost(std::string_view name) {
  return absl::EqualsIgnoreCase(ToAbsl(name), "localhost");
}

bool IsLoopback(std::string_view name) {
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(std::string(name), error);
  return IsLocalhost(name) || (!error && address.is_loopback());
}

bool IsAddress(std::string_view name) {
  boost::system::error_code error;
  boost::asio::ip::make_address(std::string(name), error);
  return !error;
}

}  // namespace

std::vector<std::string> ServedHosts(
    std::string_view http_address, const std::vector<std::string>& server_names,
    const std::vector<std::string>& cors_origins) {
  if (server_names.empty() && !IsLoopback(WithoutPort(http_address))) {
    return {std::string(kAnyName)};
  }
  std::vector<std::string> served = server_names;
  for (const std::string& origin : cors_origins) {
    served.emplace_back(origin == kAnyName ? kAnyName
                                           : WithoutPort(AuthorityOf(origin)));
  }
  return served;
}

absl::Status CheckHost(std::string_view host,
                       const std::vector<std::string>& served) {
  const std::string_view name = WithoutPort(host);
  const bool is_served =
      std::ranges::any_of(served, [&](const std::string& one) {
        return one == kAnyName || absl::EqualsIgnoreCase(one, ToAbsl(name));
      });
  if (host.empty() || is_served || IsLocalhost(name) || IsAddress(name)) {
    return absl::OkStatus();
  }
  const std::string shown = Shown(name);
  return MakeError(
      absl::StatusCode::kPermissionDenied, "HOST_NOT_ALLOWED",
      absl::StrFormat("this server does not answer as \"%s\"; to allow that "
                      "name, start the server with --server_names=%s",
                      shown, shown),
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
