// How a semrank program ends: exit codes and errors of use.
//
//   Exit     0 done, 1 failed, 2 wrong use.
//   Output   results on standard output, everything else on standard error.
//            Errors are printed with control characters escaped.
#ifndef SEMRANK_MODEL_CLI_EXIT_CODE_H_
#define SEMRANK_MODEL_CLI_EXIT_CODE_H_

#include <string_view>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace semrank {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitWrongUse = 2;

// A program ends by this call. Prints a failed status as "semrank-train: error:
// message" and returns the exit code: 2 for a status of UsageError or
// FlagError, 1 for all others.
int ExitCode(std::string_view program, const absl::Status& status);

// Returns InvalidArgument `message`, marked so that ExitCode returns 2.
absl::Status UsageError(std::string_view message);

// Returns UsageError "--name=value: reason", or "--name: reason" without value,
// for rules about several flags. CommandLine checks the value of each flag.
absl::Status FlagError(std::string_view flag, std::string_view value,
                       std::string_view reason);
template <typename Number>
requires std::is_arithmetic_v<Number> absl::Status FlagError(
    std::string_view flag, Number value, std::string_view reason) {
  return FlagError(flag, absl::StrCat(value), reason);
}

}  // namespace semrank

#endif  // SEMRANK_MODEL_CLI_EXIT_CODE_H_
