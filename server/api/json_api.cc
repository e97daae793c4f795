#include "server/api/json_api.h"

#include <google/protobuf/message.h>

#include <memory>
#include <utility>

#include "model/base/status_macros.h"
#include "server/api/body_format.h"
#include "server/api/json_messages.h"
#include "server/api/json_request.h"
#include "server/requests/methods.h"

namespace semrank {
namespace {

// Bodies of the API itself: its messages as JSON. Vectors are arrays of numbers
// unless the request names an encoding (json_request.h).
class JsonFormat final : public BodyFormat {
 public:
  explicit JsonFormat(const FormatInput& input)
      : BodyFormat(input), request_type_(input.request_type) {}

  absl::Status Read(std::string& bytes) override {
    // A method without arguments can be called by GET.
    if (request_.is_get && request_.body.empty()) return absl::OkStatus();
    JsonRequest read;
    SEMRANK_RETURN_IF_ERROR(
        ReadJsonRequest(request_.body, request_type_, read));
    vectors_ = read.wants_numbers ? VectorForm::kNumbers : VectorForm::kBase64;
    bytes = std::move(read.bytes);
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Write(
      const google::protobuf::Message& response) override {
    return ToJson(response, vectors_);
  }

 private:
  const google::protobuf::Descriptor& request_type_;
  VectorForm vectors_ = VectorForm::kNumbers;
};

// A switch, so that the compiler names a format that is missing. A body whose
// format has no `make` is not read as a whole.
const FormatFunctions& FormatOf(HttpFormat format) {
  static constexpr FormatFunctions kLines = {nullptr, &WriteStatus};
  switch (format) {
    case HttpFormat::kJson:
      break;
    case HttpFormat::kLines:
      return kLines;
    case HttpFormat::kOpenAiEmbeddings:
      return formats::kOpenAiEmbeddings;
    case HttpFormat::kOpenAiModels:
      return formats::kOpenAiModels;
    case HttpFormat::kOpenAiModel:
      return formats::kOpenAiModel;
    case HttpFormat::kCohereRerank:
      return formats::kCohereRerank;
    case HttpFormat::kCohereEmbed:
      return formats::kCohereEmbed;
    case HttpFormat::kTeiEmbed:
      return formats::kTeiEmbed;
    case HttpFormat::kTeiRerank:
      return formats::kTeiRerank;
    case HttpFormat::kTeiInfo:
      return formats::kTeiInfo;
    case HttpFormat::kUbi:
      return formats::kUbi;
  }
  return formats::kJson;
}

}  // namespace

const FormatFunctions formats::kJson = {&MakeFormatOf<JsonFormat>,
                                        &WriteStatus};

HttpCalls JsonApi(const ServerParts& parts, const ApiOptions& options) {
  HttpCalls calls;
  // Unknown paths below these are errors in JSON and are logged: clients of the
  // API cannot read the plain text that other unknown paths get.
  for (const char* const path : {"/v1/", "/v2/"}) {
    calls[path] = NoCall(path, parts.request_log);
  }
  for (const Method& method : kMethods) {
    for (const HttpPath& path : method.http_paths()) {
      // All paths of a method share its counters of type "http".
      const FormatFunctions& format = FormatOf(path.form);
      const auto call =
          std::make_shared<const ApiCall>(parts, options, method, path, format);
      HttpCall& http_call = calls[path.path] = ApiCall::WithoutHandler(call);
      // Lines are put while they arrive, so their call needs the pieces of the
      // body and not the whole.
      if (format.make == nullptr) {
        http_call.open_stream = [call](const HttpRequest& request) {
          return OpenPutStream(call, request);
        };
      } else {
        http_call.handle = [call](const HttpRequest& request,
                                  absl::Duration max_time, HttpDone done) {
          call->Handle(request, max_time, std::move(done));
        };
      }
    }
  }
  return calls;
}

}  // namespace semrank
