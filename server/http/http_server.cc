#include "server/http/http_server.h"

#include <civetweb.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <future>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"

namespace semrank {
namespace {

// Enough for scrapers and probes; a client that sends a byte a second holds a
// thread for the time-out at most.
constexpr std::array kBounds = {
    "num_threads",        "8",     "connection_queue",  "64",
    "request_timeout_ms", "5000",  "linger_timeout_ms", "1000",
    "max_request_size",   "16384", "enable_keep_alive", "no"};

constexpr std::chrono::milliseconds kStopPollTime(10);

const char* ReasonPhrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    default:
      return "Service Unavailable";
  }
}

// civetweb would write to standard error whatever it does not like. While a
// server starts it is kept, since it says what is wrong; later it is dropped.
thread_local std::string* startup_log = nullptr;

int TakeLogMessage(const mg_connection* /*connection*/, const char* message) {
  if (startup_log != nullptr) {
    *startup_log += (startup_log->empty() ? "" : "; ") + std::string(message);
  }
  return 1;
}

void Send(mg_connection* connection, const HttpResponse& response,
          bool with_body) {
  mg_printf(connection,
            "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
            "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
            "Connection: close\r\n%s\r\n",
            response.status, ReasonPhrase(response.status),
            response.content_type.c_str(), response.body.size(),
            response.status == 405 ? "Allow: GET, HEAD\r\n" : "");
  if (with_body) {
    mg_write(connection, response.body.data(), response.body.size());
  }
}

// Opens a connection and closes it again.
void Connect(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  std::array<char, 256> error = {};
  mg_connection* const connection = mg_connect_client(
      address.substr(0, colon).c_str(), std::atoi(address.c_str() + colon + 1),
      /*use_ssl=*/0, error.data(), error.size());
  if (connection != nullptr) mg_close_connection(connection);
}

}  // namespace

HttpServer::HttpServer(HttpPages pages) : pages_(std::move(pages)) {}

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(
    const std::string& address, HttpPages pages) {
  std::unique_ptr<HttpServer> server(new HttpServer(std::move(pages)));
  std::vector<const char*> options = {"listening_ports", address.c_str()};
  options.insert(options.end(), kBounds.begin(), kBounds.end());
  options.push_back(nullptr);

  mg_callbacks callbacks = {};
  callbacks.begin_request = &HttpServer::HandleRequest;
  callbacks.log_message = &TakeLogMessage;
  mg_init_data init = {&callbacks, server.get(), options.data()};
  std::string problem;
  startup_log = &problem;
  server->context_ = mg_start2(&init, nullptr);
  startup_log = nullptr;
  mg_server_port port = {};
  if (server->context_ == nullptr ||
      mg_get_server_ports(server->context_, 1, &port) != 1) {
    return absl::UnavailableError(absl::StrFormat(
        "cannot listen for HTTP on %s (--http_address): %s", address, problem));
  }
  server->address_ = absl::StrFormat(
      "%s:%d", address.substr(0, address.rfind(':')), port.port);
  return server;
}

HttpServer::~HttpServer() {
  if (context_ == nullptr) return;
  const auto stopped =
      std::async(std::launch::async, [this] { mg_stop(context_); });
  // civetweb's listener looks whether it should stop every two seconds, and
  // whenever somebody connects.
  do {
    Connect(address_);
  } while (stopped.wait_for(kStopPollTime) != std::future_status::ready);
}

int HttpServer::HandleRequest(mg_connection* connection) {
  const mg_request_info* const request = mg_get_request_info(connection);
  const auto* const server = static_cast<const HttpServer*>(request->user_data);
  const HttpResponse response = server->Answer(connection);
  Send(connection, response,
       std::string_view(request->request_method) != "HEAD");
  return response.status;  // "handled", and the status for civetweb's log
}

HttpResponse HttpServer::Answer(mg_connection* connection) const {
  const mg_request_info* const request = mg_get_request_info(connection);
  const std::string_view method = request->request_method;
  const auto page = pages_.find(std::string_view(request->local_uri));
  if (page == pages_.end()) {
    std::string body = "no such page; there are:\n";
    for (const auto& [path, make] : pages_) body += path + "\n";
    return {.status = 404, .body = std::move(body)};
  }
  if (method != "GET" && method != "HEAD") {
    return {.status = 405, .body = "only GET and HEAD\n"};
  }
  return page->second();
}

}  // namespace semrank
