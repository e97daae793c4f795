// Checks that the groups of options share. Each gives a FlagError.
#ifndef SEMRANK_SERVER_OPTION_CHECKS_H_
#define SEMRANK_SERVER_OPTION_CHECKS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace semrank {

absl::Status CheckRange(std::string_view flag, std::int64_t value,
                        std::int64_t min, std::int64_t max);

// HOST:PORT.
absl::Status CheckAddress(std::string_view flag, const std::string& address);

// 0 to 1 hour.
absl::Status CheckDuration(std::string_view flag, absl::Duration value);

}  // namespace semrank

#endif  // SEMRANK_SERVER_OPTION_CHECKS_H_
