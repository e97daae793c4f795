// One HTTP request to a server under test, over a connection of its own.
#ifndef SEMRANK_TESTS_SUPPORT_HTTP_CLIENT_H_
#define SEMRANK_TESTS_SUPPORT_HTTP_CLIENT_H_

#include <string>
#include <string_view>

namespace semrank {

struct HttpAnswer {
  int status = 0;  // 0 = no response: `body` says why
  std::string content_type;
  std::string body;
  // "Name: value" a line, as they came.
  std::string headers;
};

struct HttpMessage {
  std::string headers = "";  // lines that end with \r\n
  std::string body = "";
};

// Paths of PEM files; `ca` empty = plain text, `cert` empty = no certificate.
struct HttpClientTls {
  std::string ca = "";
  std::string cert = "";
  std::string key = "";
};

// `address` is HOST:PORT; `method` GET, HEAD, POST, ...
HttpAnswer CallHttp(const std::string& address, std::string_view method,
                    std::string_view path, const HttpMessage& message = {},
                    const HttpClientTls& tls = {});
inline HttpAnswer HttpGet(const std::string& address, std::string_view path) {
  return CallHttp(address, "GET", path);
}

}  // namespace semrank

#endif  // SEMRANK_TESTS_SUPPORT_HTTP_CLIENT_H_
