#include "tests/support/http_client.h"

#include <civetweb.h>

#include <array>
#include <cstdlib>

#include "absl/strings/str_format.h"

namespace semrank {

HttpAnswer HttpCall(const std::string& address, std::string_view method,
                    std::string_view path) {
  HttpAnswer answer;
  const std::size_t colon = address.rfind(':');
  const std::string host = address.substr(0, colon);
  const int port = std::atoi(address.c_str() + colon + 1);
  const std::string request =
      absl::StrFormat("%s %s HTTP/1.1\r\nHost: %s\r\n\r\n", method, path, host);
  std::array<char, 256> error = {};
  mg_connection* const connection =
      mg_download(host.c_str(), port, /*use_ssl=*/0, error.data(), error.size(),
                  "%s", request.c_str());
  if (connection == nullptr) return answer;
  answer.status = mg_get_response_info(connection)->status_code;
  const char* const type = mg_get_header(connection, "Content-Type");
  if (type != nullptr) answer.content_type = type;
  std::array<char, 4096> buffer;
  int size = 0;
  while (method != "HEAD" &&
         (size = mg_read(connection, buffer.data(), buffer.size())) > 0) {
    answer.body.append(buffer.data(), size);
  }
  mg_close_connection(connection);
  return answer;
}

}  // namespace semrank
