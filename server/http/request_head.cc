#include "server/http/request_head.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/base/errors.h"
#include "server/base/request_identity.h"
#include "server/http/http_compression.h"
#include "server/http/http_origins.h"
#include "server/http/http_responses.h"

namespace semrank {
namespace {

namespace http = boost::beast::http;

std::string Header(const HttpRequestParser& parser, std::string_view name) {
  const auto value =
      parser.get()[boost::beast::string_view(name.data(), name.size())];
  return std::string(value.data(), value.size());
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

}  // namespace

bool RequestHead::IsOfAllowedPage(const HttpServerOptions& options) const {
  return !origin.empty() && !same_origin &&
         IsAllowedOrigin(origin, options.cors_origins);
}

RequestHead ReadHead(const HttpRequestParser& parser) {
  const auto target = parser.get().target();
  std::string origin = Header(parser, "Origin");
  // The connection asks for it several times.
  const bool same_origin = IsSameOrigin(origin, Header(parser, "Host"));
  return {.method = parser.get().method(),
          .target = std::string(target.data(), target.size()),
          .origin = std::move(origin),
          .same_origin = same_origin,
          .accepts_gzip = AcceptsGzip(Header(parser, "Accept-Encoding")),
          .expects_continue =
              absl::EqualsIgnoreCase(Header(parser, "Expect"), "100-continue"),
          .content_encoding = Header(parser, "Content-Encoding")};
}

HttpRequest MakeRequest(const HttpRequestParser& parser) {
  return {.is_get = parser.get().method() == http::verb::get,
          .authorization = Header(parser, "Authorization"),
          .request_id = Header(parser, kRequestIdHeader),
          .traceparent = Header(parser, kTraceparentHeader),
          // No header has the length of a chunked body.
          .content_length = parser.content_length().value_or(0)};
}

// Beast takes other encodings for no body: what follows would be read as the
// next request, whereas a proxy may have taken it for this one's body.
bool HasUnreadableBody(const HttpRequestParser& parser) {
  return parser.get().count(http::field::transfer_encoding) > 0 &&
         !parser.chunked();
}

std::optional<HttpResponse> RefuseByHead(const HttpCall& call,
                                         const RequestHead& head,
                                         const HttpRequest& request,
                                         const HttpServerOptions& options,
                                         bool has_client_certificate) {
  if (!call.handle && !call.open_stream) {
    return call.refuse(request, NoSuchCall(head.target));
  }
  // Before the method, because a browser asks by OPTIONS first.
  if (!head.origin.empty() && !head.same_origin &&
      !head.IsOfAllowedPage(options)) {
    const absl::Status refusal = OriginNotAllowed(Shown(head.origin));
    // The browser shows neither the page nor its author what was answered.
    WarnThrottled(absl::StrCat("HTTP: ", refusal.message()));
    return call.refuse(request, {403, refusal});
  }
  if (head.method != http::verb::post && !(call.takes_get && request.is_get)) {
    const char* const methods = call.takes_get ? "GET, POST" : "POST";
    HttpResponse response = call.refuse(request, WrongCallMethod(methods));
    response.headers.emplace_back("Allow", methods);
    return response;
  }
  const std::string& coding = head.content_encoding;
  if (!coding.empty() && !absl::EqualsIgnoreCase(coding, "identity")) {
    HttpResponse response = call.refuse(request, CompressedBody(coding));
    // RFC 9110, section 15.5.16: what would be taken.
    response.headers.emplace_back("Accept-Encoding", "identity");
    return response;
  }
  if (options.calls_need_certificate && !has_client_certificate) {
    return call.refuse(request, NoCertificate());
  }
  return std::nullopt;
}

}  // namespace semrank
