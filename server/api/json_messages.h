// Writes messages of the API as JSON: Protobuf's JSON mapping, with the field
// names of the .proto files. Default values are omitted, and clients take an
// absent member for them.
#ifndef SEMRANK_SERVER_API_JSON_MESSAGES_H_
#define SEMRANK_SERVER_API_JSON_MESSAGES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace semrank {

// How "vectors" of a response are written: as Protobuf's mapping has it, or as
// an array of numbers a row, with the encoding "float".
enum class VectorForm { kBase64, kNumbers };
std::string ToJson(const google::protobuf::Message& message,
                   VectorForm vectors = VectorForm::kBase64);

// Returns a google.rpc.Status with its details.
std::string StatusToJson(const absl::Status& status);
inline std::string WriteStatus(const absl::Status& status, int /*http_code*/) {
  return StatusToJson(status);
}

// Appends a finite float with as many digits as reading it back takes
// (json_elements.h).
void AppendFloat(float number, std::string& json);
// Appends the digits of an index.
void AppendIndex(std::uint32_t index, std::string& json);
// The texts of finite floats as AppendFloat has them. Computes all at once,
// which takes an eighth of the time.
class FloatTexts {
 public:
  explicit FloatTexts(std::span<const float> numbers);
  // The text of the first number, then of the next one, and so on.
  std::string_view Next();

 private:
  std::string texts_;
  std::size_t begin_ = 0;  // of the next one
};
// Appends bytes in base64 (RFC 4648, section 4) between quotes.
void AppendBase64(std::string_view bytes, std::string& json);
// Appends an array of such floats, like "[0.25000000,-1.0]". `bytes` is
// little-endian float32, all finite.
void AppendNumbers(std::string_view bytes, std::string& json);
// Appends an array of such arrays, one a row of `dim` numbers.
void AppendRows(std::string_view vectors, int dim, std::string& json);

// The HTTP code of the same meaning.
int ToHttpCode(absl::StatusCode code);

}  // namespace semrank

#endif  // SEMRANK_SERVER_API_JSON_MESSAGES_H_
