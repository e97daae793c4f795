// One HTTP request to a server under test.
#ifndef SEMRANK_TESTS_SUPPORT_HTTP_CLIENT_H_
#define SEMRANK_TESTS_SUPPORT_HTTP_CLIENT_H_

#include <string>
#include <string_view>

namespace semrank {

struct HttpAnswer {
  int status = 0;  // 0 = no answer
  std::string content_type;
  std::string body;
};

// `address` is HOST:PORT; `method` GET, HEAD, POST, ...
HttpAnswer HttpCall(const std::string& address, std::string_view method,
                    std::string_view path);
inline HttpAnswer HttpGet(const std::string& address, std::string_view path) {
  return HttpCall(address, "GET", path);
}

}  // namespace semrank

#endif  // SEMRANK_TESTS_SUPPORT_HTTP_CLIENT_H_
