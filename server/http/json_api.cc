#include "server/http/json_api.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "semrank/v1/embedding_service.pb.h"
#include "semrank/v1/ranking_service.pb.h"
#include "server/auth/access_control.h"
#include "server/base/errors.h"
#include "server/base/request_log.h"
#include "server/http/json_call.h"
#include "server/http/json_messages.h"
#include "server/requests/catalog_work.h"
#include "server/requests/embed_work.h"
#include "server/requests/explain_work.h"
#include "server/requests/rank_work.h"
#include "server/requests/rpc_status.h"

namespace semrank {
namespace {

// One path: the message that its body stands for, and the work.
struct Method {
  std::string path;
  ServerParts parts;
  JsonApiOptions options;
  Metrics::Rpc metrics;
  const google::protobuf::Descriptor* request = nullptr;
  std::function<std::unique_ptr<RequestWork>(const ServerParts&)> new_work;
};

// Whole seconds, at least one.
std::string RetryAfter(const std::string& pushback_ms) {
  std::int64_t milliseconds = 0;
  if (!absl::SimpleAtoi(pushback_ms, &milliseconds)) return "1";
  return std::to_string((milliseconds + 999) / 1'000);
}

// What came of a request.
struct Outcome {
  absl::StatusOr<std::string> json;
  absl::Duration time = {};
  int http_code = ToHttpCode(json.status().code());
};

HttpResponse MakeResponse(const Outcome& outcome,
                          const RequestIdentity& identity) {
  const absl::StatusOr<std::string>& json = outcome.json;
  HttpResponse response;
  response.status = outcome.http_code;
  response.content_type = "application/json";
  response.body = (json.ok() ? *json : StatusToJson(json.status())) + "\n";
  response.headers = {{std::string(kRequestIdHeader), identity.request_id}};
  if (!identity.traceparent.empty()) {
    response.headers.emplace_back(kTraceparentHeader, identity.traceparent);
  }
  const std::optional<std::string> pushback = RetryDelayMillis(json.status());
  if (pushback.has_value()) {
    response.headers.emplace_back("Retry-After", RetryAfter(*pushback));
  }
  if (absl::IsUnauthenticated(json.status())) {
    response.headers.emplace_back("WWW-Authenticate", "Bearer");
  }
  return response;
}

void Remember(RequestLog* log, std::string_view name, const Outcome& outcome,
              const RequestIdentity& identity) {
  if (log == nullptr) return;
  log->Record({.method = name,
               .identity = identity,
               .status = outcome.json.status(),
               .time = outcome.time});
}

// Counts, remembers and answers.
HttpResponse Finish(const Method& method, const HttpRequest& request,
                    const Outcome& outcome) {
  const RequestIdentity identity =
      MakeRequestIdentity(request.request_id, request.traceparent);
  method.metrics.Handled(outcome.json.status().code(), outcome.time);
  Remember(method.parts.request_log, "POST " + method.path, outcome, identity);
  return MakeResponse(outcome, identity);
}

// For what never became a JsonCall, which counts its refusals itself.
HttpResponse Refuse(const Method& method, const HttpRequest& request,
                    const Outcome& outcome) {
  method.parts.metrics->CountRejected(outcome.json.status());
  return Finish(method, request, outcome);
}

Outcome ToOutcome(const HttpRefusal& refusal) {
  return {refusal.status, refusal.time, refusal.http_code};
}

// What needs no body.
absl::Status CheckUnread(const Method& method, const HttpRequest& request) {
  SEMRANK_RETURN_IF_ERROR(method.options.allowed);
  const AccessControl* const access = method.parts.access;
  if (access != nullptr) {
    SEMRANK_RETURN_IF_ERROR(access->Check(request.authorization, Role::kRead));
  }
  SEMRANK_RETURN_IF_ERROR(method.parts.lifecycle->CheckAnswering());
  return method.parts.admission->CheckRoom();
}

absl::StatusOr<std::string> Answer(const Method& method,
                                   const HttpRequest& request) {
  return JsonCall::Run(
      method.parts, method.new_work(method.parts), *method.request,
      request.body, {request.client_left, method.options.client_look_interval});
}

HttpCall ToHttpCall(Method whole) {
  const auto method = std::make_shared<const Method>(std::move(whole));
  HttpCall call;
  call.max_body_bytes = method->options.max_body_bytes;
  call.admit =
      [method](const HttpRequest& request) -> std::optional<HttpResponse> {
    method->metrics.Started();
    const absl::Status status = CheckUnread(*method, request);
    if (status.ok()) return std::nullopt;
    return Refuse(*method, request, {status});
  };
  call.refuse = [method](const HttpRequest& request,
                         const HttpRefusal& refusal) {
    if (!refusal.admitted) method->metrics.Started();
    return Refuse(*method, request, ToOutcome(refusal));
  };
  call.answer = [method](const HttpRequest& request) {
    StageClock clock;
    absl::StatusOr<std::string> json = Answer(*method, request);
    return Finish(*method, request, {std::move(json), clock.Lap()});
  };
  return call;
}

// Paths that do not exist. They are no method, so nothing is counted.
HttpCall NoCall(RequestLog* log) {
  HttpCall call;
  call.refuse = [log](const HttpRequest& request, const HttpRefusal& refusal) {
    const RequestIdentity identity =
        MakeRequestIdentity(request.request_id, request.traceparent);
    Remember(log, "/v1/", ToOutcome(refusal), identity);
    return MakeResponse(ToOutcome(refusal), identity);
  };
  return call;
}

template <typename Request, typename Work>
Method MakeMethod(const ServerParts& parts, const char* path,
                  const char* service, const char* name) {
  return {path,
          parts,
          {},
          parts.metrics->AddRpc(service, name, "http"),
          Request::descriptor(),
          [](const ServerParts& all) { return std::make_unique<Work>(all); }};
}

}  // namespace

HttpCalls JsonApi(const ServerParts& parts, const JsonApiOptions& options) {
  HttpCalls calls;
  calls["/v1/"] = NoCall(parts.request_log);
  for (Method& method : std::vector<Method>{
           MakeMethod<v1::RankRequest, RankWork>(
               parts, "/v1/rank", "semrank.v1.RankingService", "Rank"),
           MakeMethod<v1::SearchDocumentsRequest, SearchWork>(
               parts, "/v1/search", "semrank.v1.CatalogService",
               "SearchDocuments"),
           MakeMethod<v1::ExplainRequest, ExplainWork>(
               parts, "/v1/explain", "semrank.v1.RankingService", "Explain"),
           MakeMethod<v1::EmbedTextsRequest, EmbedWork>(
               parts, "/v1/embed", "semrank.v1.EmbeddingService",
               "EmbedTexts")}) {
    const std::string path = method.path;
    method.options = options;
    calls[path] = ToHttpCall(std::move(method));
  }
  return calls;
}

}  // namespace semrank
