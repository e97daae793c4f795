// Ranges of flag values.
//
//   Errors   FlagError naming the flag, the value and the limit.
#ifndef SEMRANK_MODEL_TRAIN_OPTIONS_OPTION_CHECKS_H_
#define SEMRANK_MODEL_TRAIN_OPTIONS_OPTION_CHECKS_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"

namespace semrank {

// Both ends are allowed.
absl::Status CheckRange(std::string_view flag, std::int64_t value,
                        std::int64_t lowest, std::int64_t highest);

// Above 0, at most `highest`; not NaN.
absl::Status CheckPositive(std::string_view flag, double value, double highest);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_OPTIONS_OPTION_CHECKS_H_
