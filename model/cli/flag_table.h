// The Abseil flags of one program, without those of the libraries in it.
//
//   Threads  const after construction; setting a flag is as safe as absl::Flag.
#ifndef SEMRANK_MODEL_CLI_FLAG_TABLE_H_
#define SEMRANK_MODEL_CLI_FLAG_TABLE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/flags/commandlineflag.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace semrank {

// A flag and the text that becomes its value.
struct FlagSetting {
  absl::CommandLineFlag* flag;
  // Absent: the flag was written without "=", and is not boolean.
  std::optional<std::string> value;
};

class FlagTable {
 public:
  // Flags defined in source files whose path contains one of the words of
  // `flag_source` (ProgramInfo in program.h).
  explicit FlagTable(std::string_view flag_source);

  // By name, in alphabetical order.
  const std::vector<absl::CommandLineFlag*>& flags() const { return flags_; }

  // Null if there is none.
  absl::CommandLineFlag* Find(std::string_view name) const;

  // What "name=value", "name" or "noname" (both for boolean flags) sets.
  // InvalidArgument "unknown flag --gama (did you mean --gamma?)".
  absl::StatusOr<FlagSetting> Resolve(std::string_view written) const;

  // "unknown flag " + `as_typed`, and what may have been meant by `name`.
  absl::Status Unknown(std::string_view as_typed, std::string_view name) const;

 private:
  std::vector<absl::CommandLineFlag*> flags_;
};

// Flags that every program has beside its own.
inline constexpr std::string_view kHelpFlag = "help";
inline constexpr std::string_view kVersionFlag = "version";
inline constexpr std::string_view kFlagfileFlag = "flagfile";

// "SEMRANK_BATCH_SIZE" for "batch_size".
std::string EnvironmentName(std::string_view flag);

// Sets `flag`. InvalidArgument "`origin`: reason" if it cannot be `value`; the
// flag then keeps its old value. `origin` is how it was written: "--gamma=x",
// "SEMRANK_GAMMA=x".
absl::Status SetFlag(absl::CommandLineFlag& flag, std::string_view value,
                     std::string_view origin);

}  // namespace semrank

#endif  // SEMRANK_MODEL_CLI_FLAG_TABLE_H_
