#include "server/requests/message_parser.h"

#include <google/protobuf/stubs/logging.h>

#include <string>

#include "absl/strings/str_format.h"
#include "server/base/errors.h"
#include "server/requests/wire_reader.h"

namespace semrank {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;

// Set while this thread parses: Protobuf tells apart bad bytes and bad UTF-8
// nowhere but in its log.
thread_local bool saw_invalid_utf8 = false;

void LogHandler(google::protobuf::LogLevel level, const char* /*filename*/,
                int /*line*/, const std::string& message) {
  if (message.find("invalid UTF-8") != std::string::npos) {
    saw_invalid_utf8 = true;
  } else if (level == google::protobuf::LOGLEVEL_FATAL) {
    fprintf(stderr, "protobuf: %s\n", message.c_str());
  }
}

// Would Protobuf read this field of this type, or keep it as an unknown one?
bool IsKnown(const FieldDescriptor* field, WireReader::WireType type) {
  if (field == nullptr) return false;
  const auto own_type = WireFormatLite::WireTypeForFieldType(
      static_cast<WireFormatLite::FieldType>(field->type()));
  return type == own_type ||
         (field->is_packable() && type == WireReader::kBytes);
}

// Adds those of `type` and of the messages in it, until there are too many.
// Bytes that are no message are the parser's to find.
void CountUnknownFields(std::string_view bytes, const Descriptor& type,
                        std::int64_t& count) {
  WireReader reader(bytes);
  int depth = 0;  // of groups, which no message of ours has
  while (count <= kMaxUnknownFields && reader.Next()) {
    if (reader.type() == WireFormatLite::WIRETYPE_END_GROUP) {
      --depth;
      continue;
    }
    const FieldDescriptor* const field =
        depth == 0 ? type.FindFieldByNumber(reader.field()) : nullptr;
    const bool known = IsKnown(field, reader.type());
    if (!known) ++count;
    std::string_view nested;
    if (reader.type() == WireFormatLite::WIRETYPE_START_GROUP) {
      ++depth;  // its fields come next
    } else if (!known || field->message_type() == nullptr) {
      reader.Skip();
    } else if (reader.ReadBytes(nested)) {
      CountUnknownFields(nested, *field->message_type(), count);
    }
  }
}

absl::Status TooManyUnknownFields(const std::string& message_name) {
  return MakeError(
      absl::StatusCode::kInvalidArgument, kMalformedReason,
      absl::StrFormat("the message has more than %d fields that no %s has",
                      kMaxUnknownFields, message_name),
      {{"message", message_name},
       {"limit", std::to_string(kMaxUnknownFields)}});
}

}  // namespace

void CatchProtobufLog() { google::protobuf::SetLogHandler(&LogHandler); }

absl::Status ParseMessage(std::string_view bytes,
                          google::protobuf::Message& message) {
  std::int64_t num_unknown = 0;
  CountUnknownFields(bytes, *message.GetDescriptor(), num_unknown);
  if (num_unknown > kMaxUnknownFields) {
    return TooManyUnknownFields(message.GetTypeName());
  }
  saw_invalid_utf8 = false;
  if (message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::OkStatus();
  }
  const std::string name = message.GetTypeName();
  if (!saw_invalid_utf8) return MalformedMessage(name);
  return MakeError(
      absl::StatusCode::kInvalidArgument, "INVALID_UTF8",
      absl::StrFormat("a string in the %s message is not UTF-8", name),
      {{"message", name}});
}

}  // namespace semrank
