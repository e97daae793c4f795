#include "client/lib/server_address.h"

#include <cstdint>

#include "absl/strings/numbers.h"
#include "model/base/strings.h"

namespace semrank {
namespace {

constexpr std::string_view kUnixScheme = "unix:";
constexpr std::string_view kDnsScheme = "dns:///";

absl::Status CheckHostPort(std::string_view address) {
  const std::size_t colon = address.rfind(':');
  std::uint32_t port = 0;
  if (colon == std::string_view::npos ||
      !absl::SimpleAtoi(ToAbsl(address.substr(colon + 1)), &port) ||
      port == 0 || port > 65535) {
    return absl::InvalidArgumentError("want HOST:PORT, PORT from 1 to 65535");
  }
  const std::string_view host = address.substr(0, colon);
  if (host.empty()) return absl::InvalidArgumentError("has no host");
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  if (!bracketed && host.find(':') != std::string_view::npos) {
    return absl::InvalidArgumentError("write an IPv6 host as [HOST]:PORT");
  }
  if (host.find_first_of(" \t/") != std::string_view::npos) {
    return absl::InvalidArgumentError(
        "want HOST:PORT without blanks, slashes or a scheme");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckServerAddress(std::string_view address) {
  if (address.starts_with(kUnixScheme)) {
    return address.size() > kUnixScheme.size()
               ? absl::OkStatus()
               : absl::InvalidArgumentError("has no path");
  }
  if (address.starts_with(kDnsScheme)) address.remove_prefix(kDnsScheme.size());
  return CheckHostPort(address);
}

bool IsLoopback(std::string_view address) {
  if (address.starts_with(kDnsScheme)) address.remove_prefix(kDnsScheme.size());
  return address.starts_with("127.") || address.starts_with("[::1]:") ||
         address.starts_with("localhost:");
}

}  // namespace semrank
