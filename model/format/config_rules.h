// How the checks of a configuration say what is wrong with it.
//
//   Private to model/format.
//   Errors   InvalidArgument: the field, its value and what is allowed.
#ifndef SEMRANK_MODEL_FORMAT_CONFIG_RULES_H_
#define SEMRANK_MODEL_FORMAT_CONFIG_RULES_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"

namespace semrank {

absl::Status WrongField(std::string_view field, std::string_view value,
                        std::string_view rule);

absl::Status CheckFieldRange(std::string_view field, std::uint32_t value,
                             std::uint32_t low, std::uint32_t high);

}  // namespace semrank

#endif  // SEMRANK_MODEL_FORMAT_CONFIG_RULES_H_
