#include "server/api/json_api.h"

#include <memory>
#include <utility>

#include "server/api/body_format.h"
#include "server/api/json_messages.h"
#include "server/requests/methods.h"

namespace semrank {
namespace {

// A body whose format has no `make` is not read as a whole.
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

HttpCalls JsonApi(const ServerParts& parts, const ApiOptions& options) {
  HttpCalls calls;
  // Unknown paths below these are errors in JSON and are logged.
  for (const char* const path : {"/v1/", "/v2/"}) {
    calls[path] = NoCall(path, parts.request_log);
  }
  for (const Method& method : kMethods) {
    for (const HttpPath& path : method.http_paths()) {
      // All paths of a method share its counters of type "http".
      const FormatFunctions& format = FormatOf(path.form);
      const auto call =
          std::make_shared<const ApiCall>(parts, options, method, path, format);
      calls[path.path] = format.make == nullptr ? MakePutStream(call)
                                                : ApiCall::WithFormat(call);
    }
  }
  return calls;
}

}  // namespace semrank
