// The formats of results; writes them to standard output.
#ifndef SEMRANK_CLIENT_OUTPUT_OUTPUT_H_
#define SEMRANK_CLIENT_OUTPUT_OUTPUT_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/generated_enum_reflection.h>
#include <google/protobuf/message.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/output/table.h"
#include "model/base/count_text.h"

namespace semrank {

enum class OutputFormat {
  kAuto,   // table on a terminal, else TSV
  kTable,  // aligned columns under titles
  kTsv,    // tab-separated, no titles, control characters escaped
  kJson,   // one object, or one a line
  kRaw,    // as kTsv with all characters as they are
};

bool StdoutIsTerminal();

// An error with the system's reason if not everything could be written.
absl::Status WriteStdout(std::string_view text);

// `format` is kTable, kTsv or kRaw.
absl::Status WriteTable(const Table& table, OutputFormat format);

// The object on one line, "\n" included, with keys in order of insertion and
// terminal controls escaped.
std::string ToJsonLine(const nlohmann::ordered_json& object);
absl::Status WriteJson(const nlohmann::ordered_json& object);

// The message in Protobuf's JSON mapping, with the field names of the .proto
// files, on one line, "\n" included.
absl::StatusOr<std::string> MessageJsonLine(
    const google::protobuf::Message& message);
absl::Status WriteJson(const google::protobuf::Message& message);

// The key of a document or hit: its number or its name. Empty if it has none.
template <typename Document>
std::string KeyText(const Document& document) {
  return document.has_id() ? std::to_string(document.id())
                           : document.document_id();
}

// The name of the value without the enum's prefix: "letters_and_words" for
// FEATURE_KIND_LETTERS_AND_WORDS; the number if a newer release added it.
std::string EnumWord(const google::protobuf::EnumDescriptor& type, int value);
template <typename Enum>
std::string EnumWord(Enum value) {
  return EnumWord(*google::protobuf::GetEnumDescriptor<Enum>(), value);
}

// The shortest text that parses to the same float.
std::string ShortestText(float value);
// Four decimals for people, the shortest text for programs.
std::string ScoreText(float score, bool rounded);
// The double with the same shortest text, so that JSON does not print 0.1f as
// 0.10000000149011612.
double ShortestDouble(float value);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_OUTPUT_OUTPUT_H_
