// Writes messages of the API as JSON: Protobuf's JSON mapping, with the field
// names of the .proto files. Default values are omitted, and clients take an
// absent member for them.
#ifndef SEMRANK_SERVER_API_JSON_MESSAGES_H_
#define SEMRANK_SERVER_API_JSON_MESSAGES_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
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

// Appends bytes in base64 (RFC 4648, section 4) between quotes.
void AppendBase64(std::string_view bytes, std::string& json);
// Appends an array of numbers, like "[0.25000000,-1.0]", with as many digits as
// reading them back takes (json_vectors.h). `floats` is little-endian float32,
// all finite.
void AppendFloatList(std::string_view floats, std::string& json);
// Appends an array with what `append` writes of each `row_bytes` of `rows`.
using AppendRow =
    absl::FunctionRef<void(std::string_view row, std::string& json)>;
void AppendRows(std::string_view rows, std::size_t row_bytes, AppendRow append,
                std::string& json);

// The HTTP code of the same meaning: 413 for MESSAGE_TOO_LARGE, which a client
// must not send again, otherwise that of the status code.
int ToHttpCode(const absl::Status& status);

}  // namespace semrank

#endif  // SEMRANK_SERVER_API_JSON_MESSAGES_H_
