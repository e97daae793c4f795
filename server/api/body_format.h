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

class BodyFormat {
 public:
  virtual ~BodyFormat() = default;

  // Sets `bytes` to the Protobuf request that the body stands for.
  virtual absl::Status Read(const HttpRequest& request, std::string& bytes) = 0;
  // Returns the body of the response. To call after Read.
  virtual absl::StatusOr<std::string> Write(
      const google::protobuf::Message& response) = 0;
};

// What a format is made from; all of it outlives the format.
struct FormatInput {
  const Limits& limits;
  const google::protobuf::Descriptor& request_type;  // of the method
  const HttpRequest& request;
};
using MakeFormat = std::unique_ptr<BodyFormat> (*)(const FormatInput& input);
// Returns the body of an error.
using WriteError = std::string (*)(const absl::Status& status, int http_code);

// The formats; each is defined, and described, in the source of its name.
// json_format: of any method.
std::unique_ptr<BodyFormat> MakeJsonFormat(const FormatInput& input);
// openai_format: of EmbedTexts, of ListModels, where POST is the API's own, and
// of ResolveModel. An error in both forms has the members of google.rpc.Status
// and OpenAI's "error", for paths that clients of either may call.
std::unique_ptr<BodyFormat> MakeOpenAiEmbeddings(const FormatInput& input);
std::unique_ptr<BodyFormat> MakeModelList(const FormatInput& input);
std::unique_ptr<BodyFormat> MakeOpenAiModel(const FormatInput& input);
std::string WriteOpenAiError(const absl::Status& status, int http_code);
std::string WriteBothErrors(const absl::Status& status, int http_code);
// cohere_format: of Rank and EmbedTexts.
std::unique_ptr<BodyFormat> MakeCohereRerank(const FormatInput& input);
std::unique_ptr<BodyFormat> MakeCohereEmbed(const FormatInput& input);
std::string WriteCohereError(const absl::Status& status, int http_code);
// tei_format: of EmbedTexts, Rank and GetModel.
std::unique_ptr<BodyFormat> MakeTeiEmbed(const FormatInput& input);
std::unique_ptr<BodyFormat> MakeTeiRerank(const FormatInput& input);
std::unique_ptr<BodyFormat> MakeTeiInfo(const FormatInput& input);
std::string WriteTeiEmbedError(const absl::Status& status, int http_code);
std::string WriteTeiRerankError(const absl::Status& status, int http_code);
std::string WriteTeiInfoError(const absl::Status& status, int http_code);

}  // namespace semrank

#endif  // SEMRANK_SERVER_API_BODY_FORMAT_H_
