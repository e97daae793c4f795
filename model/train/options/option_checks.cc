#include "model/train/options/option_checks.h"

#include "absl/strings/str_format.h"
#include "model/cli/program.h"

namespace semrank {

absl::Status CheckRange(std::string_view flag, std::int64_t value,
                        std::int64_t lowest, std::int64_t highest) {
  if (value >= lowest && value <= highest) return absl::OkStatus();
  return FlagError(flag, absl::StrFormat("%d", value),
                   absl::StrFormat("must be %d to %d", lowest, highest));
}

absl::Status CheckPositive(std::string_view flag, double value,
                           double highest) {
  // Written so that NaN fails.
  if (value > 0 && value <= highest) return absl::OkStatus();
  return FlagError(flag, absl::StrFormat("%g", value),
                   absl::StrFormat("must be above 0, at most %g", highest));
}

}  // namespace semrank
