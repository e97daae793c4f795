#include "server/http/http_server.h"

#include <civetweb.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <future>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/base/admission.h"
#include "server/base/errors.h"
#include "server/base/request_identity.h"
#include "server/http/connection_watch.h"
#include "server/http/http_body.h"

namespace semrank {
namespace {

// Of single reads and writes; ConnectionWatch bounds the rest. Closing does not
// wait for the client (no linger_timeout_ms).
constexpr std::array kBounds = {
    "num_threads",        kMaxHttpConnections,
    "connection_queue",   kMaxWaitingHttpConnections,
    "request_timeout_ms", "5000",
    "max_request_size",   "16384",
    "enable_keep_alive",  "no"};

constexpr std::chrono::milliseconds kStopPollTime(10);

// civetweb would write to standard error whatever it does not like. While a
// server starts it is kept, since it says what is wrong; later it is dropped.
thread_local std::string* startup_log = nullptr;

int TakeLogMessage(const mg_connection* /*connection*/, const char* message) {
  if (startup_log != nullptr) {
    *startup_log += (startup_log->empty() ? "" : "; ") + std::string(message);
  }
  return 1;
}

// What a client may take to take an answer.
constexpr absl::Duration kMaxAnswerTime = absl::Seconds(30);
// After a refusal civetweb reads on for so long: if it closed the connection
// while bytes come, the client might never see the answer.
constexpr absl::Duration kMaxUnreadTime = absl::Seconds(1);

ConnectionWatch& WatchOf(const mg_connection* connection) {
  return *static_cast<ConnectionWatch*>(
      mg_get_user_connection_data(connection));
}

void Send(mg_connection* connection, const HttpResponse& response,
          bool with_body) {
  std::string head = absl::StrFormat(
      "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n"
      "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
      "Connection: close\r\n",
      response.status, mg_get_response_code_text(connection, response.status),
      response.content_type, response.body.size());
  for (const auto& [name, value] : response.headers) {
    absl::StrAppendFormat(&head, "%s: %s\r\n", name, value);
  }
  head += "\r\n";
  WatchOf(connection).AnswerMayTake(connection, kMaxAnswerTime);
  mg_write(connection, head.data(), head.size());
  if (with_body) {
    mg_write(connection, response.body.data(), response.body.size());
  }
  WatchOf(connection).AnswerMayTake(connection, kMaxUnreadTime);
}

std::string Header(const mg_connection* connection, std::string_view name) {
  const char* const value =
      mg_get_header(connection, std::string(name).c_str());
  return value == nullptr ? "" : value;
}

HttpResponse WrongMethod(const std::string& allowed) {
  return {.status = 405,
          .body = "only " + allowed + "\n",
          .headers = {{"Allow", allowed}}};
}

HttpRequest ReadHeaders(const mg_connection* connection) {
  return {.authorization = Header(connection, "Authorization"),
          .request_id = Header(connection, kRequestIdHeader),
          .traceparent = Header(connection, kTraceparentHeader)};
}

// All threads for calls are taken, which counts as no room for a text.
HttpRefusal TooManyCalls() {
  return {429,
          MakeError(absl::StatusCode::kResourceExhausted, "OVERLOADED",
                    absl::StrFormat("%d HTTP calls are in hand, and no more "
                                    "are taken at once",
                                    kMaxHttpCalls),
                    {{"limit", absl::StrCat(kMaxHttpCalls)},
                     {"retry_delay_ms", absl::StrCat(absl::ToInt64Milliseconds(
                                            Admission::kRetryDelay))}})};
}

HttpRefusal NotPosted() {
  return {405, MakeError(absl::StatusCode::kUnimplemented, "NOT_IMPLEMENTED",
                         "calls are made with POST only")};
}

HttpRefusal NoSuchCall() {
  return {404, MakeError(absl::StatusCode::kUnimplemented, "NOT_IMPLEMENTED",
                         "there is no such call")};
}

HttpRefusal BadBody(const absl::Status& status, absl::Duration time) {
  return {absl::IsResourceExhausted(status) ? 413 : 408, status,
          /*admitted=*/true, time};
}

HttpResponse ReadAndAnswer(mg_connection* connection, const HttpCall& call) {
  HttpRequest request = ReadHeaders(connection);
  std::optional<HttpResponse> refusal = call.admit(request);
  if (refusal.has_value()) return *std::move(refusal);
  const absl::Time admitted = absl::Now();
  WatchOf(connection).BodyMayTake(connection, kMaxHttpBodyTime);
  const absl::Status read =
      ReadHttpBody(connection, call.max_body_bytes, request.body);
  WatchOf(connection).BodyCame(connection);
  request.client_left = [connection] {
    return WatchOf(connection).HasLeft(connection);
  };
  if (read.ok()) return call.answer(request);
  return call.refuse(request, BadBody(read, absl::Now() - admitted));
}

void HandleClosing(const mg_connection* connection) {
  WatchOf(connection).Closed(connection);
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

HttpServer::HttpServer(HttpPages pages, HttpCalls calls)
    : pages_(std::move(pages)), calls_(std::move(calls)) {}

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(
    const std::string& address, HttpPages pages, HttpCalls calls) {
  std::unique_ptr<HttpServer> server(
      new HttpServer(std::move(pages), std::move(calls)));
  std::vector<const char*> options = {"listening_ports", address.c_str()};
  options.insert(options.end(), kBounds.begin(), kBounds.end());
  options.push_back(nullptr);

  mg_callbacks callbacks = {};
  callbacks.begin_request = &HttpServer::HandleRequest;
  callbacks.init_connection = &HttpServer::HandleOpening;
  callbacks.connection_close = &HandleClosing;
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
  server->watch_.Start(port.port);
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

int HttpServer::HandleOpening(const mg_connection* connection, void** data) {
  auto* const server =
      static_cast<HttpServer*>(mg_get_user_data(mg_get_context(connection)));
  *data = &server->watch_;
  server->watch_.Opened();
  return 0;
}

int HttpServer::HandleRequest(mg_connection* connection) {
  WatchOf(connection).HeadCame(connection);
  const mg_request_info* const request = mg_get_request_info(connection);
  const auto* const server = static_cast<const HttpServer*>(request->user_data);
  std::optional<CallsInHand::Call> until_sent;
  if (server->FindCall(request->local_uri) != nullptr) {
    until_sent.emplace(server->calls_in_hand_);
  }
  const HttpResponse response = server->Answer(connection);
  Send(connection, response,
       std::string_view(request->request_method) != "HEAD");
  return response.status;  // "handled", and the status for civetweb's log
}

HttpResponse HttpServer::Answer(mg_connection* connection) const {
  const mg_request_info* const request = mg_get_request_info(connection);
  const std::string_view method = request->request_method;
  const std::string_view path = request->local_uri;
  const HttpCall* const call = FindCall(path);
  if (call != nullptr) return AnswerCall(connection, *call);
  const auto page = pages_.find(path);
  if (page == pages_.end()) return NoSuchPage();
  if (method != "GET" && method != "HEAD") return WrongMethod("GET, HEAD");
  return page->second();
}

HttpResponse HttpServer::AnswerCall(mg_connection* connection,
                                    const HttpCall& call) const {
  const std::string_view method =
      mg_get_request_info(connection)->request_method;
  if (!call.answer) return call.refuse(ReadHeaders(connection), NoSuchCall());
  if (method != "POST") {
    HttpResponse response = call.refuse(ReadHeaders(connection), NotPosted());
    response.headers.emplace_back("Allow", "POST");
    return response;
  }
  HttpResponse response =
      ++num_calls_ <= kMaxHttpCalls
          ? ReadAndAnswer(connection, call)
          : call.refuse(ReadHeaders(connection), TooManyCalls());
  --num_calls_;
  return response;
}

const HttpCall* HttpServer::FindCall(std::string_view path) const {
  const auto call = calls_.find(path);
  if (call != calls_.end()) return &call->second;
  for (const auto& [prefix, others] : calls_) {
    if (prefix.ends_with('/') && path.starts_with(prefix)) return &others;
  }
  return nullptr;
}

HttpResponse HttpServer::NoSuchPage() const {
  std::string body = "no such page; there are:\n";
  for (const auto& [path, make] : pages_) body += path + "\n";
  for (const auto& [path, call] : calls_) {
    if (call.answer) body += "POST " + path + "\n";
  }
  return {.status = 404, .body = std::move(body)};
}

}  // namespace semrank
