#include "tests/support/http_client.h"

#include <civetweb.h>

#include <array>
#include <cstdlib>

#include "absl/strings/str_format.h"

namespace semrank {

HttpAnswer CallHttp(const std::string& address, std::string_view method,
                    std::string_view path, const HttpMessage& message) {
  HttpAnswer answer;
  const std::size_t colon = address.rfind(':');
  const std::string host = address.substr(0, colon);
  const int port = std::atoi(address.c_str() + colon + 1);
  std::string request = absl::StrFormat("%s %s HTTP/1.1\r\nHost: %s\r\n%s",
                                        method, path, host, message.headers);
  if (method == "POST") {
    absl::StrAppendFormat(&request, "Content-Length: %d\r\n",
                          message.body.size());
  }
  request += "\r\n" + message.body;
  std::array<char, 256> error = {};
  mg_connection* const connection =
      mg_download(host.c_str(), port, /*use_ssl=*/0, error.data(), error.size(),
                  "%s", request.c_str());
  if (connection == nullptr) return answer;
  const mg_response_info* const info = mg_get_response_info(connection);
  answer.status = info->status_code;
  for (int i = 0; i < info->num_headers; ++i) {
    absl::StrAppendFormat(&answer.headers, "%s: %s\n",
                          info->http_headers[i].name,
                          info->http_headers[i].value);
  }
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
