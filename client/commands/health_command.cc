#include <memory>
#include <string>

#include "absl/strings/str_format.h"
#include "client/commands/command.h"
#include "client/lib/semrank_client.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

using grpc::health::v1::HealthCheckResponse;

constexpr ProgramInfo kHealthInfo = {
    .name = "health",
    .summary = "checks whether the server accepts calls",
    .usage = R"(Usage:
  semrank health [--service=NAME] [flags]

Prints SERVING and exits with 0 if the server accepts calls. Exits with 1 if it does
not, cannot be reached or does not know the service. Suits probes.

Examples:
  semrank health --deadline=2s
  semrank health --service=semrank.v1.RankingService
)"};

absl::Status RunHealth(const std::string& service,
                       const CommonOptions& common) {
  SEMRANK_ASSIGN_OR_RETURN(const auto client,
                           SemrankClient::Create(common.client));
  const auto status = client->CheckHealth(service);
  if (absl::IsNotFound(status.status())) {
    return absl::NotFoundError(
        absl::StrFormat("the server knows no service '%s'", service));
  }
  if (!status.ok()) return WithHint(status.status());
  // The exit code is for probes, the word for people.
  const std::string word = HealthCheckResponse::ServingStatus_Name(*status);
  SEMRANK_RETURN_IF_ERROR(
      WriteStdout(common.ResultFormat() == OutputFormat::kJson
                      ? ToJsonLine({{"service", service}, {"status", word}})
                      : word + "\n"));
  return *status == HealthCheckResponse::SERVING
             ? absl::OkStatus()
             : absl::UnavailableError("not serving");
}

}  // namespace

Command AddHealthCommand(CommandLine& program, const CommonOptions& common) {
  const auto service = std::make_shared<std::string>();
  CommandLine& command = program.AddCommand(kHealthInfo);
  command.Group("Health");
  AddUtf8Flag(
      command, "service",
      "Service to check, such as semrank.v1.RankingService. Empty = the "
      "whole server.",
      service.get());
  return {kHealthInfo.name,
          [service, &common] { return RunHealth(*service, common); }};
}

}  // namespace semrank
