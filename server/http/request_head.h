// The head of a request, and the calls that are refused by the head alone:
// their bodies are never read.
#ifndef SEMRANK_SERVER_HTTP_REQUEST_HEAD_H_
#define SEMRANK_SERVER_HTTP_REQUEST_HEAD_H_

#include <boost/beast/http/dynamic_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/verb.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "server/http/http_options.h"
#include "server/http/http_routes.h"

namespace semrank {

// The body grows as bytes come; a string_body would reserve at once what
// Content-Length claims.
using HttpRequestParser =
    boost::beast::http::request_parser<boost::beast::http::dynamic_body>;

// Headers are empty if they are absent.
struct RequestHead {
  boost::beast::http::verb method = boost::beast::http::verb::unknown;
  std::string target = {};
  std::string origin = {};   // of the page that makes the request
  bool same_origin = false;  // it is a page of this server
  bool accepts_gzip = false;
  bool expects_continue = false;  // the client waits for 100 Continue
  std::string content_encoding = {};

  std::string_view path() const {
    return std::string_view(target).substr(0, target.find('?'));
  }
  // Whether a page of another origin makes the request, and may make it.
  bool IsOfAllowedPage(const HttpServerOptions& options) const;
};

// `parser` has read a head.
RequestHead ReadHead(const HttpRequestParser& parser);
// Makes the request for handlers, without body and client_left.
HttpRequest MakeRequest(const HttpRequestParser& parser);

// Whether the body has a Transfer-Encoding that the parser takes for no body.
bool HasUnreadableBody(const HttpRequestParser& parser);

// The refusal of a call for its path, origin, method, Content-Encoding or
// missing certificate; nullopt = there is none.
std::optional<HttpResponse> RefuseByHead(const HttpCall& call,
                                         const RequestHead& head,
                                         const HttpRequest& request,
                                         const HttpServerOptions& options,
                                         bool has_client_certificate);

}  // namespace semrank

#endif  // SEMRANK_SERVER_HTTP_REQUEST_HEAD_H_
