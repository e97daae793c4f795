// Responses that the HTTP server itself makes, whatever the path: refusals of
// bodies, errors of pages; and what it does to every response: its head, and
// gzip for clients that accept it.
#ifndef SEMRANK_SERVER_HTTP_HTTP_RESPONSES_H_
#define SEMRANK_SERVER_HTTP_HTTP_RESPONSES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/http/http_routes.h"

namespace semrank {

// The beginning of what a client sent, escaped, for messages and the log.
std::string Shown(std::string_view text);

// Logs a line that clients can cause as often as they like; drops most of many.
void WarnThrottled(const std::string& line);

// The reason for a call beyond kMaxHttpCalls.
absl::Status TooManyCalls();

// The refusals of calls by their heads: for the path, the method, the
// Content-Encoding, and a missing client certificate.
HttpRefusal NoSuchCall(std::string_view path);
HttpRefusal WrongCallMethod(const char* methods);
HttpRefusal CompressedBody(std::string_view coding);
HttpRefusal NoCertificate();

// The reasons why a body is not accepted.
absl::Status BodyTooLarge(std::int64_t max_body_bytes);
// `num_bytes` arrived in the last `period`, fewer than `min_rate` a second.
absl::Status BodyTooSlow(std::uint64_t num_bytes, absl::Duration period,
                         std::int64_t min_rate);

// Errors in plain text, for pages and for bytes that are not HTTP.
HttpResponse BadRequest(const std::string& reason);
HttpResponse WrongMethod();

// The status line and the headers, up to the empty line.
std::string FormatHead(const HttpResponse& response, bool keep_alive);

// Whether an Accept-Encoding header names gzip, or else *, without q=0.
bool AcceptsGzip(std::string_view accept_encoding);

// Compresses the body, by zlib's fastest level, and says so in the headers;
// bodies under 1 KiB and ones that do not get smaller stay as they are.
void Compress(HttpResponse& response);

}  // namespace semrank

#endif  // SEMRANK_SERVER_HTTP_HTTP_RESPONSES_H_
