#include <memory>
#include <string>

#include "absl/flags/flag.h"
#include "absl/strings/str_format.h"
#include "client/commands/command.h"
#include "client/commands/connection_flags.h"
#include "client/commands/result_flags.h"
#include "client/input/unicode.h"
#include "client/output/call_report.h"
#include "client/output/output.h"
#include "model/base/status_macros.h"
#include "model/cli/program.h"

ABSL_FLAG(std::string, service, "",
          "Service to ask for, such as semrank.v1.RankingService. Empty = the "
          "whole server.");

namespace semrank {
namespace {

using grpc::health::v1::HealthCheckResponse;

constexpr std::string_view kUsage =
    "Usage:\n"
    "  semrank health [--service=NAME] [flags]\n"
    "\n"
    "Prints SERVING and exits 0 if the server takes calls. Exits 1 if it does\n"
    "not, cannot be reached or does not know the service. For probes.\n"
    "\n"
    "Examples:\n"
    "  semrank health --deadline=2s\n"
    "  semrank health --service=semrank.v1.RankingService\n";

absl::Status Print(const std::string& status) {
  if (FormatFromFlags() != OutputFormat::kJson) {
    return WriteStdout(status + "\n");
  }
  return WriteStdout(ToJsonLine(
      {{"service", absl::GetFlag(FLAGS_service)}, {"status", status}}));
}

absl::Status Run(const std::vector<std::string>&) {
  const std::string service = absl::GetFlag(FLAGS_service);
  if (!IsValidUtf8(service)) {
    return FlagError("service", EscapeControls(service), "not valid UTF-8");
  }
  SEMRANK_ASSIGN_OR_RETURN(const std::unique_ptr<SemrankClient> client,
                           ClientFromFlags());
  const auto status = client->CheckHealth(service);
  if (absl::IsNotFound(status.status())) {
    return absl::NotFoundError(absl::StrFormat(
        "the server knows no service '%s'", EscapeControls(service)));
  }
  if (!status.ok()) return WithHint(status.status());
  SEMRANK_RETURN_IF_ERROR(
      Print(HealthCheckResponse::ServingStatus_Name(*status)));
  if (*status == HealthCheckResponse::SERVING) return absl::OkStatus();
  return absl::UnavailableError("not serving");
}

}  // namespace

const Command kHealthCommand = {
    .name = "health",
    .summary = "says whether the server takes calls",
    .usage = kUsage,
    .flag_sources =
        "client/commands/health_command client/commands/result_flags "
        "client/commands/connection_flags",
    .takes_arguments = false,
    .run = Run,
};

}  // namespace semrank
