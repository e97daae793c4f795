#include "server/api/api_call.h"

#include <google/protobuf/message.h>

#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "model/base/status_macros.h"
#include "server/api/json_messages.h"
#include "server/auth/access_control.h"
#include "server/auth/caller_name.h"
#include "server/base/request_identity.h"
#include "server/requests/error_status.h"
#include "server/requests/request_run.h"

namespace semrank {
namespace {

// How long a request may take.
constexpr absl::Duration kMaxTime = absl::Seconds(60);

// Deletes itself when it is done.
class ApiRun final : public RequestRun {
 public:
  ApiRun(const Method& method, const ServerParts& parts,
         std::unique_ptr<RequestHandler> handler, const HttpRequest& request,
         BodyFormat& format, RequestLog::Details details, ApiCall::Done done)
      : RequestRun(method, parts, std::move(handler)),
        request_(request),
        format_(format),
        details_(std::move(details)),
        done_(std::move(done)) {}

  void Begin(std::size_t num_bytes, absl::Duration max_time) {
    StartDecoding(num_bytes, max_time,
                  [this]() -> absl::StatusOr<std::string_view> {
                    SEMRANK_RETURN_IF_ERROR(format_.Read(bytes_));
                    return bytes_;
                  });
  }

 private:
  absl::Time deadline() const override { return deadline_; }
  // True also when the server has no more time for the request.
  bool cancelled() const override {
    return server_ends() || (request_.client_left && request_.client_left());
  }
  std::string_view name() const override { return request_.caller; }
  bool server_ends() const {
    return parts().lifecycle->state() == Lifecycle::State::kEnding;
  }
  absl::Status SerializeResponse(
      const google::protobuf::MessageLite& response) override {
    Stopwatch clock;
    // Every response of the API is a full message; "lite" ones know no JSON.
    SEMRANK_ASSIGN_OR_RETURN(
        body_, format_.Write(
                   dynamic_cast<const google::protobuf::Message&>(response)));
    parts().metrics->RecordPhase(Phase::kSerialize, clock.Lap());
    return absl::OkStatus();
  }
  void Done(const absl::Status& status) override {
    absl::StatusOr<std::string> body = std::move(body_);
    if (!status.ok()) {
      // The client did not cancel the request; the server has no more time.
      body = absl::IsCancelled(status) && server_ends()
                 ? Lifecycle::DrainingError()
                 : status;
    }
    RequestLog::Details details = Describe(std::move(details_));
    ApiCall::Done done = std::move(done_);
    // First, since its handler may use the server's parts, and after `done` the
    // server may be gone.
    delete this;
    std::move(done)(std::move(body), std::move(details));
  }

  const HttpRequest& request_;
  BodyFormat& format_;
  RequestLog::Details details_;
  ApiCall::Done done_;
  const absl::Time deadline_ = absl::Now() + kMaxTime;
  std::string bytes_;  // of the request
  std::string body_;   // of the response
};

// The header takes whole seconds. They are rounded up: a client that comes back
// earlier would be refused again.
std::string RetryAfter(const std::string& pushback_ms) {
  std::int64_t milliseconds = 0;
  if (!absl::SimpleAtoi(pushback_ms, &milliseconds)) return "1";
  return std::to_string((milliseconds + 999) / 1'000);
}

// The response's head, without a body.
HttpResponse MakeHead(const absl::Status& status, int http_code,
                      const RequestIdentity& identity) {
  HttpResponse response;
  response.status = http_code;
  response.content_type = "application/json";
  response.headers = {{std::string(kRequestIdHeader), identity.request_id}};
  if (!identity.traceparent.empty()) {
    response.headers.emplace_back(kTraceparentHeader, identity.traceparent);
  }
  const std::optional<std::string> pushback = RetryDelayMillis(status);
  if (pushback.has_value()) {
    response.headers.emplace_back("Retry-After", RetryAfter(*pushback));
  }
  // HTTP demands the header with every 401 (RFC 9110, section 15.5.2).
  if (absl::IsUnauthenticated(status)) {
    response.headers.emplace_back("WWW-Authenticate", "Bearer");
  }
  return response;
}

// `details` are those of the runs; the caller's are added.
void Log(RequestLog* log, const HttpRequest& request,
         const RequestLog::Details& details, RequestLog::Outcome outcome) {
  if (log == nullptr) return;
  outcome.details = [&] {
    RequestLog::Details all = details;
    all.key = AccessControl::NameOfKey(request.authorization);
    all.peer = request.peer;
    return all;
  };
  log->Record(outcome);
}

}  // namespace

ApiCall::ApiCall(const ServerParts& parts, const ApiOptions& options,
                 const Method& method, const HttpPath& path,
                 const FormatFunctions& format)
    : parts_(parts),
      options_(options),
      method_(method),
      path_(path),
      format_(format),
      request_type_(RequestTypeOf(method)),
      metrics_(parts.metrics->AddRpc(method.service, method.name, "http")) {}

void ApiCall::Run(std::unique_ptr<RequestHandler> handler,
                  const HttpRequest& request, std::size_t num_bytes,
                  absl::Duration max_time, BodyFormat& format,
                  RequestLog::Details details, Done done) const {
  auto* const run = new ApiRun(method_, parts_, std::move(handler), request,
                               format, std::move(details), std::move(done));
  run->Begin(num_bytes, max_time);
}

std::string ApiCall::ErrorBody(const absl::Status& status) const {
  return format_.write_error(status, ToHttpCode(status));
}

HttpResponse ApiCall::Finish(const HttpRequest& request, Answer answer) const {
  const RequestIdentity identity =
      MakeRequestIdentity(request.request_id, request.traceparent);
  metrics_.Handled(answer.status.code(), answer.time);
  const std::string name =
      absl::StrCat(request.is_get ? "GET " : "POST ", path_.path);
  Log(parts_.request_log, request, answer.details,
      {.method = name,
       .identity = identity,
       .status = answer.status,
       .time = answer.time,
       .by_admin = method_.role == Role::kAdmin});
  // HTTP has more codes than gRPC, for example 405 and 408, which the HTTP
  // server knows.
  const int http_code =
      answer.http_code != 0 ? answer.http_code : ToHttpCode(answer.status);
  HttpResponse response = MakeHead(answer.status, http_code, identity);
  response.content_type = answer.content_type;
  response.body = std::move(answer.body);
  // The format of an error is the one that clients of this path expect.
  if (response.body.empty()) {
    response.body = format_.write_error(answer.status, http_code) + "\n";
  }
  return response;
}

// Answers calls that never became a run, which counts its refusals itself.
HttpResponse ApiCall::Refuse(const HttpRequest& request,
                             const HttpRefusal& refusal) const {
  parts_.metrics->CountRejected(refusal.status);
  parts_.metrics->CountCaller(KeyOfCaller(request.caller), 0, refusal.status);
  return Finish(request, {.status = refusal.status,
                          .time = refusal.time,
                          .http_code = refusal.http_code});
}

// With --http_calls=off a call is refused whatever its key is. The
// Content-Length stands for the message's size, which only decoding would find
// out; a chunked body has none, and is checked when it is there.
absl::Status ApiCall::CheckCall(const HttpRequest& request) const {
  SEMRANK_RETURN_IF_ERROR(options_.allowed);
  SEMRANK_RETURN_IF_ERROR(CheckKey(method_, parts_, request.authorization));
  return CheckUnread(method_, parts_,
                     {request.content_length, kMaxTime, request.caller});
}

void ApiCall::Handle(const HttpRequest& request, absl::Duration max_time,
                     HttpDone done) const {
  Stopwatch clock;
  // One object reads the request and writes the response, since a response may
  // repeat what only the body has: its documents, its model, its encoding.
  auto owned_format = format_.make({parts_.limits, request_type_, request});
  BodyFormat& format = *owned_format;
  // A call that looks for vectors in a store may wait for a disk or a network,
  // and the I/O thread would wait with it.
  if (parts_.stored != nullptr) max_time = absl::ZeroDuration();
  Run(method_.make_handler(parts_), request, request.body.size(), max_time,
      format, {},
      [this, &request, clock, format = std::move(owned_format),
       done = std::move(done)](absl::StatusOr<std::string> body,
                               RequestLog::Details details) mutable {
        Answer answer = {.status = body.status(),
                         .time = clock.Lap(),
                         .details = std::move(details)};
        if (body.ok()) answer.body = *std::move(body) + "\n";
        std::move(done)(Finish(request, std::move(answer)));
      });
}

HttpCall ApiCall::WithoutHandler(const std::shared_ptr<const ApiCall>& call) {
  HttpCall http_call;
  http_call.takes_get = call->path_.takes_get;
  http_call.max_body_bytes = call->options_.max_body_bytes;
  // Runs in the I/O thread, so it must not block.
  http_call.admit =
      [call](const HttpRequest& request) -> std::optional<HttpResponse> {
    call->metrics_.Started();
    // A refused call is a started one too.
    const absl::Status status = call->CheckCall(request);
    if (status.ok()) return std::nullopt;
    return call->Refuse(request, {ToHttpCode(status), status});
  };
  http_call.refuse = [call](const HttpRequest& request,
                            const HttpRefusal& refusal) {
    // `admit` has counted the others.
    if (!refusal.admitted) call->metrics_.Started();
    return call->Refuse(request, refusal);
  };
  return http_call;
}

HttpCall NoCall(const std::string& path, RequestLog* log) {
  HttpCall call;
  call.refuse = [path, log](const HttpRequest& request,
                            const HttpRefusal& refusal) {
    const RequestIdentity identity =
        MakeRequestIdentity(request.request_id, request.traceparent);
    Log(log, request, {},
        {.method = path,
         .identity = identity,
         .status = refusal.status,
         .time = refusal.time});
    HttpResponse response =
        MakeHead(refusal.status, refusal.http_code, identity);
    response.body = WriteBothErrors(refusal.status, refusal.http_code) + "\n";
    return response;
  };
  return call;
}

}  // namespace semrank
