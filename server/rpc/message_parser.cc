#include "server/rpc/message_parser.h"

#include <google/protobuf/stubs/logging.h>

#include <string>

#include "absl/strings/str_format.h"
#include "server/core/errors.h"

namespace semrank {
namespace {

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

}  // namespace

void CatchProtobufLog() { google::protobuf::SetLogHandler(&LogHandler); }

absl::Status ParseMessage(std::string_view bytes,
                          google::protobuf::MessageLite& message) {
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
