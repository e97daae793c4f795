#include "server/api/json_api.h"

#include <memory>
#include <utility>

#include "server/api/json_format.h"
#include "server/api/json_messages.h"
#include "server/api/openai_format.h"
#include "server/api/put_stream.h"
#include "server/api/rerank_format.h"
#include "server/api/tei_format.h"
#include "server/requests/methods.h"

namespace semrank {
namespace {

struct FormFunctions {
  MakeFormat make_format = nullptr;
  WriteError write_error = nullptr;
};

FormFunctions FunctionsOf(HttpFormat form) {
  switch (form) {
    case HttpFormat::kJson:
      return {&MakeJsonFormat, &WriteStatus};
    case HttpFormat::kLines:
      break;  // MakePutStream reads the lines itself.
    case HttpFormat::kOpenAiEmbeddings:
      return {&MakeOpenAiEmbeddings, &WriteOpenAiError};
    case HttpFormat::kOpenAiModels:
      // POST is the API's own call, and errors are the same for both.
      return {&MakeModelList, &WriteStatus};
    case HttpFormat::kCohereRerank:
      return {&MakeCohereRerank, &WriteCohereError};
    case HttpFormat::kTeiEmbed:
      return {&MakeTeiEmbed, &WriteTeiEmbedError};
    case HttpFormat::kTeiRerank:
      return {&MakeTeiRerank, &WriteTeiRerankError};
    case HttpFormat::kTeiInfo:
      return {&MakeTeiInfo, &WriteTeiInfoError};
  }
  return {nullptr, &WriteStatus};
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
      const FormFunctions form = FunctionsOf(path.form);
      auto call = std::make_shared<const ApiCall>(
          parts, options, method, path, form.make_format, form.write_error);
      calls[path.path] = form.make_format == nullptr
                             ? MakePutStream(std::move(call))
                             : ApiCall::WithFormat(std::move(call));
    }
  }
  return calls;
}

}  // namespace semrank
