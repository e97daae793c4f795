#include "server/option_checks.h"

#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "model/cli/program.h"

namespace semrank {

absl::Status CheckRange(std::string_view flag, std::int64_t value,
                        std::int64_t min, std::int64_t max) {
  if (value >= min && value <= max) return absl::OkStatus();
  return FlagError(flag, std::to_string(value),
                   absl::StrFormat("must be %d to %d", min, max));
}

absl::Status CheckAddress(std::string_view flag, const std::string& address) {
  const std::size_t colon = address.rfind(':');
  int port = -1;
  if (colon != std::string::npos && colon > 0 &&
      absl::SimpleAtoi(address.substr(colon + 1), &port) && port >= 0 &&
      port <= std::numeric_limits<std::uint16_t>::max()) {
    return absl::OkStatus();
  }
  return FlagError(flag, address, "must be HOST:PORT, port 0 to 65535");
}

absl::Status CheckDuration(std::string_view flag, absl::Duration value) {
  if (value >= absl::ZeroDuration() && value <= absl::Hours(1)) {
    return absl::OkStatus();
  }
  return FlagError(flag, absl::FormatDuration(value), "must be 0 to 1h");
}

}  // namespace semrank
