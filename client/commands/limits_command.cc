#include "client/commands/command.h"
#include "client/lib/semrank_client.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

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

// A row per limit, also for those that are 0: that means no limit. Protobuf's
// JSON would omit them.
Table LimitsTable(const v1::Limits& limits) {
  using google::protobuf::FieldDescriptor;
  Table table;
  table.AddColumn("");
  table.AddColumn("", Table::Align::kRight);
  const auto& fields = *limits.GetDescriptor();
  // By reflection, so a limit that is added to the API needs no change here.
  for (int i = 0; i < fields.field_count(); ++i) {
    const FieldDescriptor* const field = fields.field(i);
    const std::uint64_t value =
        field->cpp_type() == FieldDescriptor::CPPTYPE_UINT64
            ? limits.GetReflection()->GetUInt64(limits, field)
            : limits.GetReflection()->GetUInt32(limits, field);
    table.AddRow({field->name(), std::to_string(value)});
  }
  return table;
}

absl::Status RunLimits(const CommonOptions& common) {
  SEMRANK_ASSIGN_OR_RETURN(const auto client,
                           SemrankClient::Create(common.client));
  const auto limits = client->GetLimits();
  if (!limits.ok()) return WithHint(limits.status());
  if (common.ResultFormat() != OutputFormat::kJson) {
    return WriteTable(LimitsTable(*limits), common.ResultFormat());
  }
  SEMRANK_ASSIGN_OR_RETURN(const std::string line, MessageJsonLine(*limits));
  return WriteStdout(line);
}

}  // namespace

Command AddLimitsCommand(CommandLine& program, const CommonOptions& common) {
  program.AddCommand(kLimitsInfo);
  return {kLimitsInfo.name, [&common] { return RunLimits(common); }};
}

}  // namespace semrank
