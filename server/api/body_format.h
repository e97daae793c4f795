// How one request and its response are written in HTTP bodies: JSON of the API,
// or the format of another product's API. There is one object a request, used
// by one thread at a time.
#ifndef SEMRANK_SERVER_API_BODY_FORMAT_H_
#define SEMRANK_SERVER_API_BODY_FORMAT_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/limits.h"
#include "server/http/http_routes.h"

namespace google::protobuf {
class Descriptor;
class Message;
}  // namespace google::protobuf

namespace semrank {

// What a format is made from; all of it outlives the format.
struct FormatInput {
  const Limits& limits;
  const google::protobuf::Descriptor& request_type;  // of the method
  const HttpRequest& request;
};

class BodyFormat {
 public:
  explicit BodyFormat(const FormatInput& input)
      : limits_(input.limits), request_(input.request) {}
  virtual ~BodyFormat() = default;

  // Sets `bytes` to the Protobuf request that the body stands for.
  virtual absl::Status Read(std::string& bytes) = 0;
  // Returns the body of the response. To call after Read.
  virtual absl::StatusOr<std::string> Write(
      const google::protobuf::Message& response) = 0;

 protected:
  const Limits& limits_;
  const HttpRequest& request_;
};

using MakeFormat = std::unique_ptr<BodyFormat> (*)(const FormatInput& input);
template <typename Format>
std::unique_ptr<BodyFormat> MakeFormatOf(const FormatInput& input) {
  return std::make_unique<Format>(input);
}
// Returns the body of an error.
using WriteError = std::string (*)(const absl::Status& status, int http_code);

struct FormatFunctions {
  MakeFormat make = nullptr;
  WriteError write_error = nullptr;
};

// Each format is described where it is defined: the API's own in json_api, the
// others in openai_format, cohere_format, tei_format and ubi_format.
namespace formats {
extern const FormatFunctions kJson;
extern const FormatFunctions kOpenAiEmbeddings, kOpenAiModels, kOpenAiModel;
extern const FormatFunctions kCohereRerank, kCohereEmbed;
extern const FormatFunctions kTeiEmbed, kTeiRerank, kTeiInfo;
extern const FormatFunctions kUbi;
}  // namespace formats

// An error in two forms at once, for paths that clients of either may call: the
// members of google.rpc.Status, and OpenAI's "error".
std::string WriteBothErrors(const absl::Status& status, int http_code);

}  // namespace semrank

#endif  // SEMRANK_SERVER_API_BODY_FORMAT_H_
