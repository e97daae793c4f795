// Converts messages of the API to JSON and back: Protobuf's JSON mapping, with
// the field names of the .proto files.
#ifndef SEMRANK_SERVER_API_JSON_MESSAGES_H_
#define SEMRANK_SERVER_API_JSON_MESSAGES_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace google::protobuf {
class Descriptor;
class Message;
}  // namespace google::protobuf

namespace semrank {

// Internal when a response cannot be written.
absl::StatusOr<std::string> ToJson(const google::protobuf::Message& message);

// How deep objects and arrays may nest. A message of the API has three levels;
// Protobuf's parser bounds objects but not arrays.
inline constexpr std::size_t kMaxBodyDepth = 32;

enum class Spellings {
  kExact,  // top_k and topK are two members
  kField,  // they are one, as in Protobuf; no name may have an escape
};
// Checks JSON in one pass, before a parser recurses or builds anything.
// InvalidArgument MALFORMED_MESSAGE if it nests deeper than kMaxBodyDepth, has
// more than `max_values` values, which bounds the memory that a parser may
// need, or repeats a member of an object: parsers differ in which value they
// take, and a proxy may have checked the other one. `name` is what the body
// should be.
absl::Status CheckJson(std::string_view json, Spellings spellings,
                       std::size_t max_values, std::string_view name);

// The end of the string that begins with the quote at `begin`, after its other
// quote; the text's own end where that is missing.
std::size_t EndOfString(std::string_view json, std::size_t begin);

// Converts `json` to the bytes of a `message`, without building the message.
// InvalidArgument MALFORMED_MESSAGE with the parser's reason; unknown fields
// are an error, since most are misspelt, and so are repeated members.
absl::Status JsonToBytes(std::string_view json,
                         const google::protobuf::Descriptor& message,
                         std::string& bytes);

// Returns a google.rpc.Status with its details.
std::string StatusToJson(const absl::Status& status);
inline std::string WriteStatus(const absl::Status& status, int /*http_code*/) {
  return StatusToJson(status);
}

// Appends an array like "[0.25,-1]": the shortest digits that read back as the
// same floats. `bytes` is little-endian float32, all finite.
void AppendNumbers(std::string_view bytes, std::string& json);
// Appends an array of such arrays, one a row of `dim` numbers.
void AppendRows(std::string_view vectors, int dim, std::string& json);

// The HTTP code of the same meaning.
int ToHttpCode(absl::StatusCode code);

}  // namespace semrank

#endif  // SEMRANK_SERVER_API_JSON_MESSAGES_H_
