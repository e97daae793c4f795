// POST /v1/rank, /v1/explain, /v1/embed and /v1/search: the API as JSON, with
// the messages, keys, limits, admission and errors of gRPC.
//
//   Errors   the HTTP code of the same meaning; the body is google.rpc.Status.
//   Headers  Authorization: Bearer KEY; x-request-id and traceparent come back;
//            Retry-After where gRPC sends a pushback.
//   Order    are calls allowed at all, key, state of the server, room for even
//            one text; then the body is read and parsed, which its size bounds;
//            then the request is read, checked, admitted and run as one of
//            gRPC (request_run), while the handler's thread waits.
//   Time     60 s. A client that leaves ends its work between two slices.
#ifndef SEMRANK_SERVER_HTTP_JSON_API_H_
#define SEMRANK_SERVER_HTTP_JSON_API_H_

#include <cstdint>

#include "absl/status/status.h"
#include "server/http/http_server.h"
#include "server/requests/server_parts.h"

namespace semrank {

struct JsonApiOptions {
  std::int64_t max_body_bytes = 0;
  // An error refuses every call with it.
  absl::Status allowed = {};
};

// The parts must outlive the server. Counted as gRPC methods of type "http".
HttpCalls JsonApi(const ServerParts& parts, const JsonApiOptions& options);

}  // namespace semrank

#endif  // SEMRANK_SERVER_HTTP_JSON_API_H_
