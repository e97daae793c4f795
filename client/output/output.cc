#include "client/output/output.h"

#include <google/protobuf/util/json_util.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "model/base/file_io.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/text/utf8.h"

// Titles, ids and messages come from other people, and a terminal obeys what it
// is sent: an escape sequence in a title could rewrite what was printed before,
// or set the title of the window. So everything but --output=raw is escaped, in
// the way that suits its reader.
namespace semrank {

bool StdoutIsTerminal() { return isatty(STDOUT_FILENO) == 1; }

// Every result goes through here, so a full disk or a closed pipe is an error
// with exit code 1.
absl::Status WriteStdout(std::string_view text) {
  // A full disk shows only when the buffer is flushed.
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
      std::fflush(stdout) == 0;
  return written ? absl::OkStatus()
                 : ErrnoStatus(errno, "write", "standard output");
}

absl::Status WriteTable(const Table& table, OutputFormat format) {
  if (format == OutputFormat::kTable) {
    return WriteStdout(table.ToAlignedText());
  }
  if (format == OutputFormat::kRaw)
    return WriteStdout(table.ToTsv(Table::kNone));
  // What a pipe carries may be shown on a terminal, too.
  return WriteStdout(
      table.ToTsv(StdoutIsTerminal() ? Table::kAll : Table::kControls));
}

std::string ToJsonLine(const nlohmann::ordered_json& object) {
  // The replacing handler, unlike the default, does not throw on bytes that are
  // not UTF-8.
  const std::string text = object.dump(
      /*indent=*/-1, ' ', /*ensure_ascii=*/false,
      nlohmann::ordered_json::error_handler_t::replace);
  // Only strings contain anything to escape, and there \u001b is JSON, too.
  return EscapeControls(text) + "\n";
}

absl::StatusOr<std::string> MessageJsonLine(
    const google::protobuf::Message& message) {
  // The names of the .proto files, which the documentation of the API has, and
  // not Protobuf's lowerCamelCase.
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto status =
      google::protobuf::util::MessageToJsonString(message, &json, options);
  if (!status.ok()) {
    return absl::InternalError(
        absl::StrFormat("the server's response cannot be written as JSON: %s",
                        status.message().as_string()));
  }
  return EscapeControls(json) + "\n";
}

absl::Status WriteJson(const nlohmann::ordered_json& object) {
  return WriteStdout(ToJsonLine(object));
}

absl::Status WriteJson(const google::protobuf::Message& message) {
  SEMRANK_ASSIGN_OR_RETURN(const std::string line, MessageJsonLine(message));
  return WriteStdout(line);
}

std::string EnumWord(const google::protobuf::EnumDescriptor& type, int value) {
  const auto* described = type.FindValueByNumber(value);
  if (described == nullptr) return std::to_string(value);
  // The zero value is PREFIX_UNSPECIFIED in every enum (Buf's STANDARD style).
  constexpr std::string_view kUnspecified = "UNSPECIFIED";
  const std::size_t prefix =
      type.FindValueByNumber(0)->name().size() - kUnspecified.size();
  return absl::AsciiStrToLower(
      ToAbsl(std::string_view(described->name()).substr(prefix)));
}

// The fewest digits that give the same float again. As a double, 0.1f would
// print as 0.10000000149011612.
std::string ShortestText(float value) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  return std::string(text.data(), end.ptr);
}

std::string ScoreText(float score, bool rounded) {
  return rounded ? absl::StrFormat("%.4f", score) : ShortestText(score);
}

// For JSON libraries, which print doubles.
double ShortestDouble(float value) {
  const std::string text = ShortestText(value);
  double result = 0;
  std::from_chars(text.data(), text.data() + text.size(), result);
  return result;
}

}  // namespace semrank
