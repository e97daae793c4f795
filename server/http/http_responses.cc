#include "server/http/http_responses.h"

#include <zlib.h>

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/status.hpp>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "model/base/strings.h"
#include "server/base/errors.h"
#include "server/base/log_throttle.h"
#include "server/base/logging.h"
#include "server/http/http_options.h"

namespace semrank {

namespace http = boost::beast::http;

namespace {

// Smaller bodies fit into one packet anyway.
constexpr std::size_t kMinCompressedBytes = 1'024;

}  // namespace

// The text is escaped, so that a client can write neither a line of the log nor
// codes of the terminal on which an operator reads it.
std::string Shown(std::string_view text) {
  constexpr std::size_t kMaxShownBytes = 128;
  return absl::CHexEscape(ToAbsl(text.substr(0, kMaxShownBytes)));
}

void WarnThrottled(const std::string& line) {
  constexpr int kMaxLinesPerSecond = 2;
  // Never destroyed: handlers may still run while the process exits.
  static LogThrottle& throttle = *new LogThrottle(kMaxLinesPerSecond);
  Log(LogLevel::kWarning, line, throttle);
}

absl::Status TooManyCalls() {
  return Overloaded(
      absl::StrFormat("%d HTTP calls are in flight, the limit", kMaxHttpCalls),
      {{"limit", absl::StrCat(kMaxHttpCalls)}});
}

HttpRefusal NoSuchCall(std::string_view path) {
  return {404,
          MakeError(absl::StatusCode::kUnimplemented, "NOT_IMPLEMENTED",
                    absl::StrFormat("there is no call %s; /openapi.json lists "
                                    "all calls, /api describes them",
                                    Shown(path)))};
}

HttpRefusal WrongCallMethod(const char* methods) {
  return {405, MakeError(absl::StatusCode::kUnimplemented, "NOT_IMPLEMENTED",
                         absl::StrCat("this call takes ", methods, " only"))};
}

// Nothing is decompressed here: a small body could become one of any size.
HttpRefusal CompressedBody(std::string_view coding) {
  return {415, MakeError(absl::StatusCode::kInvalidArgument, kMalformedReason,
                         absl::StrFormat("the body has Content-Encoding %s: "
                                         "send it as it is",
                                         Shown(coding)))};
}

HttpRefusal NoCertificate() {
  return {403,
          MakeError(absl::StatusCode::kPermissionDenied, "MISSING_CERTIFICATE",
                    "calls need a client certificate (--tls_client_ca)",
                    {{"flag", "tls_client_ca"}})};
}

absl::Status BodyTooLarge(std::int64_t max_body_bytes) {
  return MakeError(
      absl::StatusCode::kResourceExhausted, "MESSAGE_TOO_LARGE",
      absl::StrFormat(
          "the body is over the limit of %d bytes (--max_http_body_bytes)",
          max_body_bytes),
      {{"limit", absl::StrCat(max_body_bytes)},
       {"flag", "max_http_body_bytes"}});
}

absl::Status BodyTooSlow(std::uint64_t num_bytes, absl::Duration period,
                         std::int64_t min_rate) {
  const double seconds = absl::ToDoubleSeconds(period);
  const auto rate =
      static_cast<std::int64_t>(static_cast<double>(num_bytes) / seconds);
  return MakeError(
      absl::StatusCode::kDeadlineExceeded, "DEADLINE_EXCEEDED",
      absl::StrFormat("the body arrived at %d B/s over %s; it must arrive at "
                      "%d B/s or faster (--min_body_rate)",
                      rate, absl::FormatDuration(period), min_rate),
      LimitValues(rate, min_rate, "min_body_rate"));
}

HttpResponse BadRequest(const std::string& reason) {
  return {.status = 400, .body = absl::StrCat("bad request: ", reason, "\n")};
}

HttpResponse WrongMethod() {
  return {.status = 405,
          .body = "this page accepts GET and HEAD only\n",
          .headers = {{"Allow", "GET, HEAD"}}};
}

std::string FormatHead(const HttpResponse& response, bool keep_alive) {
  // Head and body are two buffers of one write, so the body is not copied
  // behind the head.
  const auto reason =
      http::obsolete_reason(http::int_to_status(response.status));
  std::string head = absl::StrFormat(
      // no-store: responses depend on the model and on the caller's key.
      // nosniff: no browser may take what a client sent, which errors repeat,
      // for HTML.
      "HTTP/1.1 %d %s\r\nCache-Control: no-store\r\n"
      "X-Content-Type-Options: nosniff\r\nConnection: %s\r\n",
      response.status, std::string(reason),
      keep_alive ? "keep-alive" : "close");
  // RFC 9110, section 8.6: a 204 has neither.
  if (response.status != 204) {
    absl::StrAppendFormat(&head, "Content-Type: %s\r\nContent-Length: %d\r\n",
                          response.content_type, response.body.size());
  }
  for (const auto& [name, value] : response.headers) {
    absl::StrAppendFormat(&head, "%s: %s\r\n", name, value);
  }
  return head + "\r\n";
}

// RFC 9110, 12.5.3: `*` stands for the codings that are not named.
bool AcceptsGzip(std::string_view accept_encoding) {
  bool accepts_others = false;
  for (const auto& [coding, parameters] :
       http::ext_list({accept_encoding.data(), accept_encoding.size()})) {
    double quality = 1;
    for (const auto& [name, value] : parameters) {
      double number = 0;
      // A value that is not a number is ignored.
      if (boost::beast::iequals(name, "q") &&
          absl::SimpleAtod({value.data(), value.size()}, &number)) {
        quality = number;
      }
    }
    if (boost::beast::iequals(coding, "gzip")) return quality > 0;
    if (coding == "*") accepts_others = quality > 0;
  }
  return accepts_others;
}

// Runs in the thread of the handler, since the I/O thread serves all
// connections.
void Compress(HttpResponse& response) {
  // The header is added even if nothing is compressed: another client may get
  // another response.
  response.headers.emplace_back("Vary", "Accept-Encoding");
  const std::string& body = response.body;
  if (body.size() < kMinCompressedBytes) return;
  z_stream stream = {};
  constexpr int kGzipFormat = 15 + 16;  // the largest window, gzip's header
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzipFormat,
                   MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
    return;
  }
  // There is room for a smaller body only: a larger one is not worth sending.
  std::string compressed(body.size() - 1, '\0');
  // zlib does not change its input, but has no const in its interface.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
  stream.avail_in = static_cast<uInt>(body.size());
  stream.next_out = reinterpret_cast<Bytef*>(compressed.data());
  stream.avail_out = static_cast<uInt>(compressed.size());
  const bool done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  compressed.resize(stream.total_out);
  deflateEnd(&stream);
  if (!done) return;
  response.body = std::move(compressed);
  response.headers.emplace_back("Content-Encoding", "gzip");
}

}  // namespace semrank
