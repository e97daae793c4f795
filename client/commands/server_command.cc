// `semrank health` and `semrank limits`: what a server says of itself.
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
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

constexpr ProgramInfo kLimitsInfo = {
    .name = "limits",
    .summary = "lists the limits of the server",
    .usage = R"(Usage:
  semrank limits [flags]

Prints the limits of the server: texts per request, bytes per text, texts in flight,
and so on. Flags of semrank-server set them; 0 = no limit.

Examples:
  semrank limits
  semrank limits --output=json
)"};

// Any other state than SERVING is a failure: a probe must not send users to a
// server that drains.
absl::Status RunHealth(const std::string& service,
                       const CommonOptions& common) {
  SEMRANK_ASSIGN_OR_RETURN(const auto client,
                           SemrankClient::Create(common.client));
  // A server that does not know the service is not the one that was meant.
  const auto status = client->CheckHealth(service);
  if (absl::IsNotFound(status.status())) {
    return absl::NotFoundError(
        absl::StrFormat("the server knows no service '%s'", service));
  }
  if (!status.ok()) return WithHint(status.status());
  // The exit code is for probes, the word for people.
  const std::string word = HealthCheckResponse::ServingStatus_Name(*status);
  SEMRANK_RETURN_IF_ERROR(
      common.ResultFormat() == OutputFormat::kJson
          ? WriteJson({{"service", service}, {"status", word}})
          : WriteStdout(word + "\n"));
  return *status == HealthCheckResponse::SERVING
             ? absl::OkStatus()
             : absl::UnavailableError("not serving");
}

// Limits have numbers only; the default case is uint32.
std::string ValueOf(const v1::Limits& limits,
                    const google::protobuf::FieldDescriptor& field) {
  using google::protobuf::FieldDescriptor;
  const auto& reflection = *limits.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_UINT64:
      return absl::StrCat(reflection.GetUInt64(limits, &field));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return absl::StrCat(reflection.GetDouble(limits, &field));
    default:
      return absl::StrCat(reflection.GetUInt32(limits, &field));
  }
}

// A row per limit, also for those that are 0: that means no limit. Protobuf's
// JSON would omit them.
Table LimitsTable(const v1::Limits& limits) {
  using google::protobuf::FieldDescriptor;
  Table table({{""}, {"", Table::kRight}});
  const auto& fields = *limits.GetDescriptor();
  // By reflection, so a limit that is added to the API needs no change here.
  for (int i = 0; i < fields.field_count(); ++i) {
    const FieldDescriptor* const field = fields.field(i);
    table.AddRow({field->name(), ValueOf(limits, *field)});
  }
  return table;
}

// JSON is the API's own message, which omits the limits that are 0.
absl::Status RunLimits(const CommonOptions& common) {
  SEMRANK_ASSIGN_OR_RETURN(const auto client,
                           SemrankClient::Create(common.client));
  const auto limits = client->GetLimits();
  if (!limits.ok()) return WithHint(limits.status());
  const OutputFormat format = common.ResultFormat();
  return format == OutputFormat::kJson
             ? WriteJson(*limits)
             : WriteTable(LimitsTable(*limits), format);
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

Command AddLimitsCommand(CommandLine& program, const CommonOptions& common) {
  program.AddCommand(kLimitsInfo);
  return {kLimitsInfo.name, [&common] { return RunLimits(common); }};
}

}  // namespace semrank
