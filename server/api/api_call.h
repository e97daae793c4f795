// One call of the API over HTTP, whatever its body's form: key, state, room,
// admission, the wait for its outcome, counters, log, headers.
//
//   Order    are calls allowed at all, key, state of the server, room for even
//            one text, the expected wait for a worker; then the body is read,
//            which its size bounds. A worker parses the body of a request that
//            is not small; then the request is read, checked, admitted and run
//            as one of gRPC (request_run), while the handler's thread waits.
//   Headers  Authorization: Bearer KEY; x-request-id and traceparent come back;
//            Retry-After where gRPC sends a pushback.
//   Time     60 s. A client that leaves ends its work between two slices.
//   Threads  const after construction.
#ifndef SEMRANK_SERVER_API_API_CALL_H_
#define SEMRANK_SERVER_API_API_CALL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/api/body_format.h"
#include "server/auth/access_control.h"
#include "server/requests/request_run.h"

namespace semrank {

struct ApiOptions {
  std::int64_t max_body_bytes = 0;
  // An error refuses every call with it.
  absl::Status allowed = {};
};

// One path: the method that answers it, and the form of its bodies.
struct ApiRoute {
  std::string path;
  const char* service = "";  // "semrank.v1.RankingService"
  const char* method = "";   // "Rank"
  MakeWork make_work = nullptr;
  MakeFormat make_format = nullptr;
  WriteError write_error = nullptr;
  Role role = Role::kRead;  // that the caller needs
  bool takes_get = false;   // beside POST
};

class ApiCall {
 public:
  // The parts must outlive the call. Counted as a gRPC method of type "http".
  ApiCall(const ServerParts& parts, const ApiOptions& options, ApiRoute route);

  // All of an HttpCall but `handle` and `open_stream`.
  static HttpCall WithoutHandler(const std::shared_ptr<const ApiCall>& call);
  // The whole of it: a body of the route's format.
  static HttpCall WithFormat(const std::shared_ptr<const ApiCall>& call);

  // What came of a request.
  struct Outcome {
    absl::Status status = {};
    std::string body = {};  // empty = the error of `status`
    absl::Duration time = {};
    const char* content_type = "application/json";
  };
  // Counts, remembers and answers.
  HttpResponse Finish(const HttpRequest& request, Outcome outcome) const;

  // Runs the Protobuf request that `format` reads from a body of `num_bytes`;
  // what it writes of the response, or the status that a gRPC caller would get.
  // A worker may use the format; it is not used if the request would wait too
  // long.
  absl::StatusOr<std::string> Run(std::unique_ptr<RequestWork> work,
                                  const HttpRequest& request,
                                  std::size_t num_bytes,
                                  BodyFormat& format) const;
  // In the form of the route.
  std::string ErrorBody(const absl::Status& status) const;

  const ServerParts& parts() const { return parts_; }
  const ApiOptions& options() const { return options_; }

 private:
  // What needs no body.
  absl::Status CheckUnread(const HttpRequest& request) const;
  HttpResponse Handle(const HttpRequest& request) const;
  HttpResponse Refuse(const HttpRequest& request,
                      const HttpRefusal& refusal) const;
  HttpResponse MakeResponse(const HttpRequest& request, Outcome outcome,
                            int http_code) const;

  const ServerParts parts_;
  const ApiOptions options_;
  const ApiRoute route_;
  const Metrics::Rpc metrics_;
};

// For paths under which there is no call. They are no method, so nothing is
// counted. Null = no log.
HttpCall NoCall(const std::string& path, RequestLog* log);

}  // namespace semrank

#endif  // SEMRANK_SERVER_API_API_CALL_H_
