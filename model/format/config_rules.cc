#include "model/format/config_rules.h"

#include "absl/strings/str_format.h"

namespace semrank {

absl::Status WrongField(std::string_view field, std::string_view value,
                        std::string_view rule) {
  return absl::InvalidArgumentError(
      absl::StrFormat("%s is %s; %s", field, value, rule));
}

absl::Status CheckFieldRange(std::string_view field, std::uint32_t value,
                             std::uint32_t low, std::uint32_t high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return WrongField(field, absl::StrFormat("%d", value),
                    absl::StrFormat("it must be from %d to %d", low, high));
}

}  // namespace semrank
