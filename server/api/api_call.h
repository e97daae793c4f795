// One method under one path of HTTP, whatever the format of its bodies.
//
//   Order    are calls allowed at all, then CheckKey and CheckUnread by the
//            Content-Length; then the body is read, which its size bounds. A
//            worker parses the body of a request that is not small; then the
//            request takes the same steps as one of gRPC (request_run).
//   Headers  Authorization: Bearer KEY; x-request-id and traceparent are sent
//            back; Retry-After where gRPC sends a pushback.
//   Time     a request may take 60 s. One whose client has left ends between
//            two slices.
#ifndef SEMRANK_SERVER_API_API_CALL_H_
#define SEMRANK_SERVER_API_API_CALL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/api/body_format.h"
#include "server/base/metrics.h"
#include "server/base/request_log.h"
#include "server/requests/methods.h"
#include "server/requests/server_parts.h"

namespace semrank {

struct ApiOptions {
  std::int64_t max_body_bytes = 0;
  // An error refuses every call with it.
  absl::Status allowed = {};
};

class ApiCall {
 public:
  // The call of `method` under `path`, with bodies of this format. The parts
  // must outlive the call. Its metrics are those of a gRPC method of type
  // "http".
  ApiCall(const ServerParts& parts, const ApiOptions& options,
          const Method& method, const HttpPath& path,
          const FormatFunctions& format);

  // All of an HttpCall but `handle` and `open_stream`.
  static HttpCall WithoutHandler(const std::shared_ptr<const ApiCall>& call);
  // HttpCall::handle, in the call's format.
  void Handle(const HttpRequest& request, absl::Duration max_time,
              HttpDone done) const;

  struct Answer {
    absl::Status status = {};
    std::string body = {};  // empty = the error of `status`
    absl::Duration time = {};
    const char* content_type = "application/json";
    int http_code = 0;                 // 0 = that of `status`
    RequestLog::Details details = {};  // as Run has filled them in
  };
  // Counts and logs the call, and makes its response.
  HttpResponse Finish(const HttpRequest& request, Answer answer) const;

  // Runs the Protobuf request that `format` reads from a body of `num_bytes`,
  // which may keep this thread for `max_time`. `done` gets what the format
  // writes of the response, or the status that a gRPC caller would get, and
  // `details` with what the log says of the run, perhaps before Run returns.
  // Until then a worker may use request and format; the format is not used if
  // the request would wait too long.
  using Done = absl::AnyInvocable<void(absl::StatusOr<std::string> body,
                                       RequestLog::Details details) &&>;
  void Run(std::unique_ptr<RequestHandler> handler, const HttpRequest& request,
           std::size_t num_bytes, absl::Duration max_time, BodyFormat& format,
           RequestLog::Details details, Done done) const;
  // The body of an error, in the format of the call.
  std::string ErrorBody(const absl::Status& status) const;

  const Method& method() const { return method_; }
  const ServerParts& parts() const { return parts_; }
  const ApiOptions& options() const { return options_; }

 private:
  // Makes the checks that need no body.
  absl::Status CheckCall(const HttpRequest& request) const;
  HttpResponse Refuse(const HttpRequest& request,
                      const HttpRefusal& refusal) const;

  const ServerParts parts_;
  const ApiOptions options_;
  const Method& method_;
  const HttpPath path_;
  const FormatFunctions format_;
  const google::protobuf::Descriptor& request_type_;
  const Metrics::Rpc metrics_;
};

// The body of POST /v1/put_stream, of any length (put_stream.cc).
std::unique_ptr<HttpBodyStream> OpenPutStream(
    const std::shared_ptr<const ApiCall>& call, const HttpRequest& request);

// A call that does not exist, for all paths that begin with `path`. It answers
// 404 and counts nothing. `log` may be null.
HttpCall NoCall(const std::string& path, RequestLog* log);

}  // namespace semrank

#endif  // SEMRANK_SERVER_API_API_CALL_H_
