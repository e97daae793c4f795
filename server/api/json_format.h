// Bodies of the API itself: its messages as JSON (json_messages), with vectors
// that need no decoding.
//
//   Responses  "vectors" is an array of numbers a row. With "encoding":
//              "base64" in the request it is one text, the bytes of
//              VECTOR_ENCODING_FLOAT32; a name of that enum gives its bytes.
//   Requests   "vectors" is either.
#ifndef SEMRANK_SERVER_API_JSON_FORMAT_H_
#define SEMRANK_SERVER_API_JSON_FORMAT_H_

#include <memory>
#include <string>
#include <string_view>

#include "server/api/body_format.h"

namespace semrank {

std::unique_ptr<BodyFormat> MakeJsonFormat(const FormatInput& input);

// Appends an array like "[0.25,-1]": the shortest digits that read back as the
// same floats. `bytes` is little-endian float32, all finite.
void AppendNumbers(std::string_view bytes, std::string& json);
// Appends an array of such arrays, one a row of `dim` numbers.
void AppendRows(std::string_view vectors, int dim, std::string& json);

}  // namespace semrank

#endif  // SEMRANK_SERVER_API_JSON_FORMAT_H_
