// What the HTTP server itself answers, whatever the path: refusals of bodies,
// errors of pages, and the head of every response.
//
//   Threads  free functions, from any thread.
#ifndef SEMRANK_SERVER_HTTP_HTTP_RESPONSES_H_
#define SEMRANK_SERVER_HTTP_HTTP_RESPONSES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/http/http_routes.h"

namespace semrank {

// What a client sent, for messages and the log: escaped, its beginning.
std::string Shown(std::string_view text);

// For lines that clients can cause as often as they like: drops most then.
void WarnThrottled(const std::string& line);

// Over kMaxHttpCalls.
HttpRefusal TooManyCalls();

// Why a body is not accepted.
absl::Status BodyTooLarge(std::int64_t max_body_bytes);
absl::Status BodyTooLate(absl::Duration limit);
absl::Status BodyCutOff();

// Errors in plain text, of pages and of what is no HTTP.
HttpResponse BadRequest(const std::string& reason);
HttpResponse WrongMethod();

// The status line and the headers, up to the empty line.
std::string FormatHead(const HttpResponse& response, bool keep_alive);

}  // namespace semrank

#endif  // SEMRANK_SERVER_HTTP_HTTP_RESPONSES_H_
