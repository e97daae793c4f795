#include "client/output/message_output.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/util/json_util.h>

#include "absl/strings/str_format.h"
#include "client/input/unicode.h"

namespace semrank {

Table NumberTable(const google::protobuf::Message& message) {
  using google::protobuf::FieldDescriptor;
  Table table;
  table.AddColumn("");
  table.AddColumn("", Table::Align::kRight);
  const auto& fields = *message.GetDescriptor();
  for (int i = 0; i < fields.field_count(); ++i) {
    const FieldDescriptor* const field = fields.field(i);
    const std::uint64_t value =
        field->cpp_type() == FieldDescriptor::CPPTYPE_UINT64
            ? message.GetReflection()->GetUInt64(message, field)
            : message.GetReflection()->GetUInt32(message, field);
    table.AddRow({field->name(), std::to_string(value)});
  }
  return table;
}

absl::StatusOr<std::string> MessageJsonLine(
    const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto status =
      google::protobuf::util::MessageToJsonString(message, &json, options);
  if (!status.ok()) {
    return absl::InternalError(
        absl::StrFormat("the server's answer cannot be written as JSON: %s",
                        status.message().as_string()));
  }
  return EscapeControls(json) + "\n";
}

}  // namespace semrank
