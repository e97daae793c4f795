#include "tests/support/http_client.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <limits>

#include "absl/strings/str_format.h"

namespace semrank {
namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
namespace http = boost::beast::http;
using Tcp = asio::ip::tcp;

template <typename Stream>
HttpAnswer Exchange(Stream& stream, const std::string& request, bool is_head) {
  asio::write(stream, asio::buffer(request));
  http::response_parser<http::string_body> parser;
  parser.skip(is_head);
  parser.body_limit(std::numeric_limits<std::uint64_t>::max());
  boost::beast::flat_buffer buffer;
  http::read(stream, buffer, parser);
  const auto& response = parser.get();
  HttpAnswer answer = {
      .status = static_cast<int>(response.result_int()),
      .content_type = response[http::field::content_type].to_string(),
      .body = response.body(),
      .headers = {}};
  for (const auto& field : response) {
    absl::StrAppendFormat(&answer.headers, "%s: %s\n",
                          field.name_string().to_string(),
                          field.value().to_string());
  }
  return answer;
}

HttpAnswer ExchangeTls(Tcp::socket& socket, const HttpClientTls& tls,
                       const std::string& request, bool is_head) {
  ssl::context context(ssl::context::tls_client);
  context.load_verify_file(tls.ca);
  context.set_verify_mode(ssl::verify_peer);
  if (!tls.cert.empty()) {
    context.use_certificate_chain_file(tls.cert);
    context.use_private_key_file(tls.key, ssl::context::pem);
  }
  ssl::stream<Tcp::socket&> stream(socket, context);
  stream.handshake(ssl::stream_base::client);
  return Exchange(stream, request, is_head);
}

}  // namespace

HttpAnswer CallHttp(const std::string& address, std::string_view method,
                    std::string_view path, const HttpMessage& message,
                    const HttpClientTls& tls) {
  const std::size_t colon = address.rfind(':');
  const std::string host = address.substr(0, colon);
  std::string request =
      absl::StrFormat("%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n%s",
                      method, path, host, message.headers);
  if (method == "POST") {
    absl::StrAppendFormat(&request, "Content-Length: %d\r\n",
                          message.body.size());
  }
  request += "\r\n" + message.body;
  try {
    asio::io_context io;
    Tcp::socket socket(io);
    asio::connect(socket,
                  Tcp::resolver(io).resolve(host, address.substr(colon + 1)));
    const bool is_head = method == "HEAD";
    return tls.ca.empty() ? Exchange(socket, request, is_head)
                          : ExchangeTls(socket, tls, request, is_head);
  } catch (const boost::system::system_error& error) {
    HttpAnswer none;
    none.body = error.what();
    return none;
  }
}

}  // namespace semrank
