#include "server/http/json_api.h"

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "model/base/status_macros.h"
#include "semrank/v1/catalog_service.pb.h"
#include "semrank/v1/embedding_service.pb.h"
#include "semrank/v1/ranking_service.pb.h"
#include "server/auth/access_control.h"
#include "server/base/errors.h"
#include "server/base/request_log.h"
#include "server/http/json_messages.h"
#include "server/requests/catalog_work.h"
#include "server/requests/embed_work.h"
#include "server/requests/error_status.h"
#include "server/requests/explain_work.h"
#include "server/requests/rank_work.h"

namespace semrank {
namespace {

// One path: the message that its body stands for, and the work.
struct Method {
  std::string path;
  ServerParts parts;
  JsonApiOptions options;
  Metrics::Rpc metrics;
  const google::protobuf::Descriptor* request = nullptr;
  MakeWork make_work = nullptr;
};

// How long a request may take.
constexpr absl::Duration kMaxTime = absl::Seconds(60);

// A request that came as JSON. The body becomes the bytes of the Protobuf
// message, which are then run as those of a gRPC call.
class JsonCall final : private RequestRun {
 public:
  // The response as JSON, or the status that a gRPC caller would get.
  static absl::StatusOr<std::string> Run(const Method& method,
                                         const HttpRequest& request) {
    std::string bytes;  // outlives the work, which views it
    JsonCall call(method, request);
    std::future<absl::Status> done = call.done_->get_future();
    const absl::Status parsed =
        JsonToBytes(request.body, *method.request, bytes);
    if (parsed.ok()) {
      call.Start(bytes);
    } else {
      call.Refuse(parsed);
    }
    const absl::Status status = done.get();
    if (absl::IsCancelled(status) && call.server_ends()) {
      return Lifecycle::DrainingError();
    }
    SEMRANK_RETURN_IF_ERROR(status);
    return std::move(call.json_);
  }

 private:
  JsonCall(const Method& method, const HttpRequest& request)
      : RequestRun(method.parts, method.make_work(method.parts)),
        client_left_(request.client_left) {}

  absl::Time deadline() const override { return deadline_; }
  // Also when the server has no more time for it.
  bool cancelled() const override { return server_ends() || client_left_(); }
  bool server_ends() const {
    return parts().lifecycle->state() == Lifecycle::State::kEnding;
  }
  absl::Status SerializeResponse(
      const google::protobuf::MessageLite& response) override {
    StageClock clock;
    // Every response of the API is a full message; "lite" ones know no JSON.
    SEMRANK_ASSIGN_OR_RETURN(
        json_,
        ToJson(dynamic_cast<const google::protobuf::Message&>(response)));
    parts().metrics->RecordStage(Stage::kSerialize, clock.Lap());
    return absl::OkStatus();
  }
  void Done(const absl::Status& status) override {
    // Run may return, and this call end, as soon as the value is set.
    const std::shared_ptr<std::promise<absl::Status>> done = done_;
    done->set_value(status);
  }

  const std::function<bool()>& client_left_;
  const absl::Time deadline_ = absl::Now() + kMaxTime;
  std::string json_;
  const std::shared_ptr<std::promise<absl::Status>> done_ =
      std::make_shared<std::promise<absl::Status>>();
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
  call.handle = [method](const HttpRequest& request) {
    StageClock clock;
    absl::StatusOr<std::string> json = JsonCall::Run(*method, request);
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

}  // namespace

HttpCalls JsonApi(const ServerParts& parts, const JsonApiOptions& options) {
  HttpCalls calls;
  calls["/v1/"] = NoCall(parts.request_log);
  const auto add =
      [&](const std::string& path, const char* service, const char* name,
          const google::protobuf::Descriptor* request, MakeWork make_work) {
        calls[path] = ToHttpCall({path, parts, options,
                                  parts.metrics->AddRpc(service, name, "http"),
                                  request, make_work});
      };
  constexpr char kRanking[] = "semrank.v1.RankingService";
  add("/v1/rank", kRanking, "Rank", v1::RankRequest::descriptor(),
      MakeRankWork);
  add("/v1/explain", kRanking, "Explain", v1::ExplainRequest::descriptor(),
      MakeExplainWork);
  add("/v1/embed", "semrank.v1.EmbeddingService", "EmbedTexts",
      v1::EmbedTextsRequest::descriptor(), MakeEmbedWork);
  add("/v1/search", "semrank.v1.CatalogService", "SearchDocuments",
      v1::SearchDocumentsRequest::descriptor(), MakeSearchWork);
  return calls;
}

}  // namespace semrank
