// Converts a body in JSON to the bytes of a Protobuf message, in one pass and
// without building the message.
//
// The mapping is Protobuf's, for the types that requests have: names of fields
// as in the .proto or in lowerCamelCase, null for an absent field, 64-bit
// numbers also as texts, bytes in base64, enums by name or number. Beside it
// there are two conveniences:
//
//   vectors   also an array of arrays of numbers, all of one length
//   encoding  also "float" (the response has its vectors as such arrays, as
//             without an encoding) and "base64" (of float32)
#ifndef SEMRANK_SERVER_API_JSON_REQUEST_H_
#define SEMRANK_SERVER_API_JSON_REQUEST_H_

#include <string>

#include "absl/status/status.h"

namespace google::protobuf {
class Descriptor;
}  // namespace google::protobuf

namespace semrank {

struct JsonRequest {
  std::string bytes;
  // Whether the response should have its vectors as numbers.
  bool wants_numbers = true;
};

// InvalidArgument MALFORMED_MESSAGE for what is not JSON, an unknown field
// (most are misspelt), a field that is given twice, and a value that its field
// cannot have, with the field and the byte. BAD_VECTOR for rows that are not
// vectors.
absl::Status ReadJsonRequest(const std::string& json,
                             const google::protobuf::Descriptor& message,
                             JsonRequest& request);

}  // namespace semrank

#endif  // SEMRANK_SERVER_API_JSON_REQUEST_H_
