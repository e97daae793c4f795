#include "model/cli/program.h"

#include <cstdio>
#include <cstdlib>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_format.h"
#include "model/base/strings.h"
#include "model/base/version.h"
#include "model/cli/flag_help.h"
#include "model/cli/flag_parser.h"
#include "model/cli/flag_table.h"

namespace semrank {
namespace {

// Marks a status as wrong use.
constexpr char kUsageErrorPayload[] = "semrank/usage_error";

std::optional<std::string> ReadEnvironment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

// Results that did not reach the reader are a failure.
[[noreturn]] void PrintAndExit(const std::string& text) {
  const bool printed =
      std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
  std::exit(printed ? kExitDone : kExitFailed);
}

}  // namespace

std::vector<std::string> ParseCommandLine(const ProgramInfo& info, int argc,
                                          char** argv) {
  const FlagTable table(info.flag_source);
  // A caller may hand over no name at all (argc 0).
  const std::vector<std::string> args(argv + (argc > 0 ? 1 : 0), argv + argc);
  absl::StatusOr<ParsedArguments> parsed =
      ParseFlags(table, args, ReadEnvironment);
  if (!parsed.ok()) {
    absl::FPrintF(stderr, "%s: %s\nTry '%s --help'.\n", info.name,
                  parsed.status().message(), info.name);
    std::exit(kExitWrongUse);
  }
  if (parsed->help) PrintAndExit(HelpText(info, table));
  if (parsed->version) {
    const std::string note = info.build_note.empty()
                                 ? ""
                                 : absl::StrFormat(" (%s)", info.build_note);
    PrintAndExit(absl::StrFormat("%s %s%s\n", info.name, Version(), note));
  }
  return std::move(parsed->positional);
}

int ExitCode(const ProgramInfo& info, const absl::Status& status) {
  if (status.ok()) return kExitDone;
  absl::FPrintF(stderr, "%s: error: %s\n", info.name,
                status.message().empty()
                    ? absl::StatusCodeToString(status.code())
                    : std::string(status.message()));
  return status.GetPayload(kUsageErrorPayload).has_value() ? kExitWrongUse
                                                           : kExitFailed;
}

absl::Status UsageError(std::string_view message) {
  absl::Status status = absl::InvalidArgumentError(ToAbsl(message));
  status.SetPayload(kUsageErrorPayload, absl::Cord());
  return status;
}

absl::Status FlagError(std::string_view flag, std::string_view value,
                       std::string_view reason) {
  return UsageError(absl::StrFormat("--%s=%s: %s", flag, value, reason));
}

absl::Status CheckRange(std::string_view flag, std::int64_t value,
                        std::int64_t min, std::int64_t max) {
  if (value >= min && value <= max) return absl::OkStatus();
  return FlagError(flag, absl::StrFormat("%d", value),
                   absl::StrFormat("must be %d to %d", min, max));
}

}  // namespace semrank
