#include <memory>
#include <string>

#include "client/commands/command.h"
#include "client/commands/connection_flags.h"
#include "client/commands/result_flags.h"
#include "client/output/call_report.h"
#include "client/output/output.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

constexpr std::string_view kUsage =
    "Usage:\n"
    "  semrank limits [flags]\n"
    "\n"
    "Prints what the server accepts: texts in a request, bytes of a text, "
    "texts "
    "in\n"
    "work at once, and so on. Flags of semrank-server set them; 0 = no limit.\n"
    "\n"
    "Examples:\n"
    "  semrank limits\n"
    "  semrank limits --output=json\n";

// A row per limit, also for those that are 0.
Table LimitsTable(const v1::Limits& limits) {
  using google::protobuf::FieldDescriptor;
  Table table;
  table.AddColumn("");
  table.AddColumn("", Table::Align::kRight);
  const auto& fields = *limits.GetDescriptor();
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

absl::Status Run(const std::vector<std::string>&) {
  SEMRANK_ASSIGN_OR_RETURN(const std::unique_ptr<SemrankClient> client,
                           ClientFromFlags());
  const auto limits = client->GetLimits();
  if (!limits.ok()) return WithHint(limits.status());
  const OutputFormat format = FormatFromFlags();
  if (format != OutputFormat::kJson) {
    return WriteTable(LimitsTable(*limits), format);
  }
  SEMRANK_ASSIGN_OR_RETURN(const std::string line, MessageJsonLine(*limits));
  return WriteStdout(line);
}

}  // namespace

const Command kLimitsCommand = {
    .name = "limits",
    .summary = "lists what the server accepts",
    .usage = kUsage,
    .flag_sources =
        "client/commands/result_flags client/commands/connection_flags",
    .takes_arguments = false,
    .run = Run,
};

}  // namespace semrank
