// What every semrank program does with its command line.
//
//   Flags    Abseil flags, `--name=value`, `--name value`, `--bool`,
//            `--nobool`. Each also reads SEMRANK_<NAME> from the environment
//            and `name=value` lines (with or without the dashes) from
//            --flagfile; command line > environment > --flagfile.
//   Exit     0 done, 1 failed, 2 wrong use.
//   Output   results on standard output, everything else on standard error.
#ifndef SEMRANK_MODEL_CLI_PROGRAM_H_
#define SEMRANK_MODEL_CLI_PROGRAM_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace semrank {

struct ProgramInfo {
  std::string_view name;          // "semrank-train"
  std::string_view summary = "";  // one line: what it does
  std::string_view usage =
      "";  // the text of --help above the flags: synopsis, examples
  // Flags defined in source files whose path contains one of these (separated
  // by blanks) are listed by --help and may be set; others (Abseil's own, those
  // of another command) stay hidden and are refused.
  std::string_view flag_source = "";
  std::string_view build_note = "";  // --version adds it in brackets
};

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitWrongUse = 2;

// Sets flags from the command line, the environment and --flagfile; returns
// what is not a flag, in order. Answers --help and --version on standard
// output and exits 0. A wrong flag or value is named on standard error with a
// near match if there is one, and the program exits 2.
std::vector<std::string> ParseCommandLine(const ProgramInfo& info, int argc,
                                          char** argv);

// For a program's last line: prints a failed status as "semrank-train: error:
// message" and returns the exit code: 2 for what UsageError and FlagError
// below make, whatever their code; 1 for all others.
int ExitCode(const ProgramInfo& info, const absl::Status& status);

// InvalidArgument `message`, marked so that ExitCode gives 2.
absl::Status UsageError(std::string_view message);

// UsageError "--name=value: reason": for what depends on several flags. What
// one flag may be is checked by CommandLine.
absl::Status FlagError(std::string_view flag, std::string_view value,
                       std::string_view reason);

// FlagError unless min <= value <= max.
absl::Status CheckRange(std::string_view flag, std::int64_t value,
                        std::int64_t min, std::int64_t max);

}  // namespace semrank

#endif  // SEMRANK_MODEL_CLI_PROGRAM_H_
