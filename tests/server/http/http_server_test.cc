#include "server/http/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <semaphore>
#include <thread>
#include <vector>

#include "server/base/errors.h"
#include "tests/support/http_client.h"
#include "tests/support/plain_client.h"
#include "tests/support/status_matchers.h"
#include "tests/support/test_certificates.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr absl::Duration kSoon = absl::Milliseconds(20);
// More than the sockets between server and client hold.
constexpr std::size_t kHugeBytes = std::size_t{32} << 20;

// Sends `bytes` as they are and returns all that comes back.
std::string Talk(const std::string& address, const std::string& bytes) {
  PlainClient client(address);
  EXPECT_TRUE(client.Send(bytes));
  return client.ReadToEnd();
}

// The status of the next response, whose rest is left unread.
int ReadStatus(PlainClient& client) {
  const std::string start = "HTTP/1.1 ";
  EXPECT_EQ(client.Read(start.size()), start);
  return std::stoi("0" + client.Read(3));
}

// As Talk, for a response that comes before the request is complete.
int StatusOf(const std::string& address, const std::string& bytes) {
  PlainClient client(address);
  EXPECT_TRUE(client.Send(bytes));
  return ReadStatus(client);
}

// Refuses with the HTTP code and the reason of the refusal.
HttpResponse ShowRefusal(const HttpRequest&, const HttpRefusal& refusal) {
  return {.status = refusal.http_code,
          .body = ErrorReason(refusal.status) +
                  (refusal.admitted ? " after admission" : "")};
}

HttpCall MakeCall(std::function<HttpResponse(const HttpRequest&)> answer) {
  return {.max_body_bytes = 100'000,
          .admit = [](const HttpRequest&) { return std::nullopt; },
          .refuse = &ShowRefusal,
          .answer = std::move(answer)};
}

class HttpServerTest : public ::testing::Test {
 protected:
  HttpServerTest() {
    calls_["/call"] = MakeCall([](const HttpRequest& request) {
      return HttpResponse{.body = request.body,
                          .headers = {{"X-Seen", request.request_id}}};
    });
    calls_["/call"].admit =
        [](const HttpRequest& request) -> std::optional<HttpResponse> {
      if (request.authorization != "nobody") return std::nullopt;
      return HttpResponse{.status = 401, .body = "who?"};
    };
    calls_["/huge"] = MakeCall([](const HttpRequest&) {
      return HttpResponse{.body = std::string(kHugeBytes, 'x')};
    });
    calls_["/others/"] = {.refuse = &ShowRefusal};
    // Answers with 200 once the client is seen to have left.
    calls_["/until_left"] = MakeCall([this](const HttpRequest& request) {
      running_.release();
      while (!request.client_left()) std::this_thread::yield();
      seen_leaving_.release();
      return HttpResponse();
    });
    // Answers once `open_gate_` has a value.
    calls_["/gated"] = MakeCall(
        [this, gate = open_gate_.get_future().share()](const HttpRequest&) {
          running_.release();
          gate.wait();
          return HttpResponse();
        });
  }

  void Serve(const HttpServerOptions& options = {}) {
    HttpPages pages;
    pages["/page"] = [] { return HttpResponse{.status = 200, .body = "hi"}; };
    server_ = HttpServer::Start("127.0.0.1:0", pages, calls_, options).value();
  }
  const std::string& address() const { return server_->address(); }
  int PageStatus() const { return HttpGet(address(), "/page").status; }
  PlainClient Post(const std::string& path) const {
    PlainClient client(address());
    EXPECT_TRUE(
        client.Send("POST " + path + " HTTP/1.1\r\nContent-Length: 0\r\n\r\n"));
    return client;
  }

  std::counting_semaphore<> running_{0};
  std::counting_semaphore<> seen_leaving_{0};
  std::promise<void> open_gate_;
  HttpCalls calls_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, AnswersGetAndHead) {
  Serve();
  const HttpAnswer got = HttpGet(address(), "/page?ignored");
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, "hi");
  EXPECT_THAT(got.content_type, HasSubstr("text/plain"));
  const HttpAnswer head = CallHttp(address(), "HEAD", "/page");
  EXPECT_EQ(head.status, 200);
  EXPECT_THAT(head.headers, HasSubstr("Content-Length: 2\n"));
}

TEST_F(HttpServerTest, UnknownPathIs404WithAHint) {
  Serve();
  for (const char* path : {"/", "/other", "/page/", "/../etc/passwd"}) {
    const HttpAnswer got = HttpGet(address(), path);
    EXPECT_EQ(got.status, 404) << path;
    EXPECT_THAT(got.body, HasSubstr("/page\n"));
  }
}

TEST_F(HttpServerTest, PagesRefuseOtherMethods) {
  Serve();
  EXPECT_EQ(CallHttp(address(), "POST", "/page").status, 405);
  EXPECT_EQ(CallHttp(address(), "DELETE", "/page").status, 405);
}

TEST_F(HttpServerTest, CallGetsItsHeadersAndBody) {
  Serve();
  const std::string body(99'999, 'x');
  const HttpAnswer got =
      CallHttp(address(), "POST", "/call", {"x-request-id: id-7\r\n", body});
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, body);
  EXPECT_THAT(got.headers, HasSubstr("X-Seen: id-7\n"));
  EXPECT_EQ(CallHttp(address(), "POST", "/call").body, "");
}

TEST_F(HttpServerTest, CallMayBeRefusedBeforeItsBodyIsRead) {
  Serve();
  // The body never comes: only a response to the headers can end this.
  EXPECT_EQ(StatusOf(address(),
                     "POST /call HTTP/1.1\r\nAuthorization: nobody\r\n"
                     "Content-Length: 1000\r\n\r\n"),
            401);
  EXPECT_EQ(StatusOf(address(),
                     "POST /call HTTP/1.1\r\nContent-Length: 100001\r\n\r\n"),
            413);
}

TEST_F(HttpServerTest, ChunkedBodyIsReadAndBounded) {
  Serve();
  const std::string head =
      "POST /call HTTP/1.1\r\nConnection: close\r\n"
      "Transfer-Encoding: chunked\r\n\r\n";
  EXPECT_THAT(Talk(address(), head + "2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n"),
              ::testing::EndsWith("\r\n\r\nabcde"));
  std::string chunks;
  for (int i = 0; i < 20; ++i) {
    chunks += "1770\r\n" + std::string(6'000, 'x') + "\r\n";
  }
  EXPECT_THAT(Talk(address(), head + chunks + "0\r\n\r\n"),
              StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(Talk(address(), head + "2;" + std::string(20'000, 'x')),
              StartsWith("HTTP/1.1 400 "));
}

TEST_F(HttpServerTest, CallsTakePostOnly) {
  Serve();
  const HttpAnswer got = HttpGet(address(), "/call");
  EXPECT_EQ(got.status, 405);
  EXPECT_EQ(got.body, "NOT_IMPLEMENTED");
  EXPECT_THAT(got.headers, HasSubstr("Allow: POST\n"));
}

TEST_F(HttpServerTest, OtherPathsBelowTheCallsAreRefusedLikeCalls) {
  Serve();
  for (const char* method : {"GET", "POST"}) {
    const HttpAnswer got = CallHttp(address(), method, "/others/misspelt");
    EXPECT_EQ(got.status, 404);
    EXPECT_EQ(got.body, "NOT_IMPLEMENTED");
  }
}

TEST_F(HttpServerTest, BodyThatEndsEarlyIs408) {
  Serve();
  PlainClient client(address());
  client.Send("POST /call HTTP/1.1\r\nContent-Length: 10\r\n\r\nhalf");
  client.EndSending();
  const std::string response = client.ReadToEnd();
  EXPECT_THAT(response, StartsWith("HTTP/1.1 408 "));
  EXPECT_THAT(response, HasSubstr("\r\n\r\nCANCELLED after admission"));
}

TEST_F(HttpServerTest, ClientThatExpectsContinueIsToldToSendItsBody) {
  Serve();
  const std::string expecting =
      "POST /call HTTP/1.1\r\nConnection: close\r\nExpect: 100-continue\r\n";
  PlainClient client(address());
  client.Send(expecting + "Content-Length: 4\r\n\r\n");
  const std::string go_on = "HTTP/1.1 100 Continue\r\n\r\n";
  EXPECT_EQ(client.Read(go_on.size()), go_on);
  client.Send("body");
  const std::string response = client.ReadToEnd();
  EXPECT_THAT(response, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(response, HasSubstr("\r\n\r\nbody"));

  EXPECT_EQ(StatusOf(address(), expecting + "Content-Length: 4\r\n"
                                            "Authorization: nobody\r\n\r\n"),
            401);
  EXPECT_EQ(StatusOf(address(), expecting + "Content-Length: 100001\r\n\r\n"),
            413);
}

TEST_F(HttpServerTest, SecondServerOnTheSamePortFailsToStart) {
  Serve();
  EXPECT_THAT(HttpServer::Start(address(), {}),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr(address() + " (--http_address)")));
}

struct MalformedCase {
  std::string name;
  std::string request;
  int status = 400;
};

class MalformedRequestTest
    : public HttpServerTest,
      public ::testing::WithParamInterface<MalformedCase> {};

TEST_P(MalformedRequestTest, IsRefusedAndTheConnectionCloses) {
  Serve();
  EXPECT_THAT(Talk(address(), GetParam().request),
              StartsWith("HTTP/1.1 " + std::to_string(GetParam().status)));
  EXPECT_EQ(PageStatus(), 200);
}

const std::string kPost = "POST /call HTTP/1.1\r\n";

INSTANTIATE_TEST_SUITE_P(
    All, MalformedRequestTest,
    ::testing::Values(
        MalformedCase{"Nonsense", "nonsense\r\n\r\n"},
        MalformedCase{"TlsHello", "\x16\x03\x01\x02\x05\x01\r\n\r\n"},
        MalformedCase{"HeadOverTheLimit",
                      "GET /page HTTP/1.1\r\nX: " + std::string(100'000, 'x') +
                          "\r\n\r\n",
                      431},
        MalformedCase{"TwoContentLengths", kPost + "Content-Length: 1\r\n"
                                                   "Content-Length: 2\r\n\r\n"},
        MalformedCase{"LengthAndChunks",
                      kPost + "Content-Length: 5\r\n"
                              "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
        MalformedCase{"UnknownEncoding",
                      kPost + "Transfer-Encoding: gzip\r\n\r\n"},
        MalformedCase{"BadChunk", kPost + "Transfer-Encoding: chunked\r\n\r\n"
                                          "no number\r\n"}),
    [](const auto& test) { return test.param.name; });

TEST_F(HttpServerTest, ConnectionIsKeptUntilTheClientAsksToClose) {
  Serve();
  PlainClient client(address());
  for (const char* path : {"/page", "/none"}) {
    client.Send("HEAD " + std::string(path) + " HTTP/1.1\r\n\r\n");
    std::string head;
    while (!head.ends_with("\r\n\r\n")) head += client.Read(1);
    EXPECT_THAT(head, HasSubstr("Connection: keep-alive\r\n"));
  }
  // Two at once.
  client.Send("GET /page HTTP/1.1\r\n\r\nGET /page HTTP/1.0\r\n\r\n");
  const std::string rest = client.ReadToEnd();
  EXPECT_THAT(rest, HasSubstr("\r\n\r\nhiHTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(rest, HasSubstr("Connection: close\r\n"));
}

TEST_F(HttpServerTest, RequestWithAnUnreadBodyIsTheLastOfItsConnection) {
  Serve();
  const std::string smuggled = "GET /page HTTP/1.1\r\n\r\n";
  const std::string response = Talk(
      address(), "GET /none HTTP/1.1\r\nContent-Length: " +
                     std::to_string(smuggled.size()) + "\r\n\r\n" + smuggled);
  EXPECT_THAT(response, HasSubstr("404"));
  EXPECT_THAT(response, Not(HasSubstr("200")));
}

// Deadlines. Without them these tests would not end.

TEST_F(HttpServerTest, ClientThatSendsNoWholeHeadInTimeIsClosed) {
  Serve({.timeouts = {.head = kSoon}});
  EXPECT_EQ(Talk(address(), ""), "");
  EXPECT_EQ(Talk(address(), "GET /page HTTP/1.1\r\nHost"), "");
}

TEST_F(HttpServerTest, BodyThatIsLateIs408HoweverItDrips) {
  Serve({.timeouts = {.body = kSoon}});
  PlainClient client(address());
  client.Send("POST /call HTTP/1.1\r\nContent-Length: 100000\r\n\r\n");
  while (client.IsOpen()) client.Send("x");
  const std::string response = client.ReadToEnd();
  EXPECT_THAT(response, StartsWith("HTTP/1.1 408 "));
  EXPECT_THAT(response, HasSubstr("DEADLINE_EXCEEDED after admission"));
}

TEST_F(HttpServerTest, ClientThatDoesNotReadItsResponseInTimeIsClosed) {
  Serve({.timeouts = {.response = kSoon}});
  PlainClient client = Post("/huge");
  EXPECT_EQ(ReadStatus(client), 200);
  EXPECT_TRUE(server_->WaitForCalls(absl::InfiniteFuture()));
  EXPECT_LT(client.ReadToEnd().size(), kHugeBytes);
}

TEST_F(HttpServerTest, IdleConnectionIsClosed) {
  Serve({.timeouts = {.idle = kSoon}});
  EXPECT_THAT(Talk(address(), "GET /page HTTP/1.1\r\n\r\n"),
              ::testing::EndsWith("hi"));
}

TEST_F(HttpServerTest, RefusedClientThatNeverClosesIsClosed) {
  Serve({.timeouts = {.linger = kSoon}});
  PlainClient client(address());
  client.Send("POST /call HTTP/1.1\r\nContent-Length: 100001\r\n\r\n");
  EXPECT_THAT(client.ReadToEnd(), HasSubstr(" 413 "));
  while (client.Send("x")) std::this_thread::yield();
}

// Bounds.

TEST_F(HttpServerTest, PagesAreServedWhileEveryPlaceForCallsIsTaken) {
  Serve();
  std::vector<PlainClient> waiting;
  for (int i = 0; i < kMaxHttpCalls; ++i) waiting.push_back(Post("/gated"));
  for (int i = 0; i < kMaxHttpCalls; ++i) running_.acquire();
  const HttpAnswer refused = CallHttp(address(), "POST", "/call");
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.body, "OVERLOADED");
  EXPECT_EQ(PageStatus(), 200);
  open_gate_.set_value();
  for (PlainClient& client : waiting) EXPECT_EQ(ReadStatus(client), 200);
  EXPECT_EQ(CallHttp(address(), "POST", "/call").status, 200);
}

TEST_F(HttpServerTest, AtTheBoundTheClientThatIsSilentLongestIsClosed) {
  Serve({.max_connections = 20});
  for (const char* sent :
       {"", "GET /page HTTP/1.1\r\nHost",
        "POST /call HTTP/1.1\r\nContent-Length: 9\r\n\r\n"}) {
    std::vector<PlainClient> silent;
    for (int i = 0; i < 100; ++i) {
      silent.emplace_back(address());
      EXPECT_TRUE(silent.back().Send(sent));
    }
    EXPECT_EQ(PageStatus(), 200);
    EXPECT_EQ(silent.front().ReadToEnd(), "");
    EXPECT_TRUE(silent.back().IsOpen());
  }
  EXPECT_EQ(CallHttp(address(), "POST", "/call").status, 200);
}

TEST_F(HttpServerTest, BelowTheBoundSilentClientsStayConnected) {
  Serve({.max_connections = 20});
  std::vector<PlainClient> silent;
  for (int i = 0; i < 19; ++i) silent.emplace_back(address());
  EXPECT_EQ(PageStatus(), 200);
  for (const PlainClient& client : silent) EXPECT_TRUE(client.IsOpen());
}

TEST_F(HttpServerTest, ConnectionsWhoseCallsRunAreNotClosedForOthers) {
  Serve({.max_connections = 2});
  PlainClient first = Post("/gated");
  PlainClient second = Post("/gated");
  running_.acquire();
  running_.acquire();
  EXPECT_EQ(HttpGet(address(), "/page").status, 0);
  open_gate_.set_value();
  EXPECT_EQ(ReadStatus(first), 200);
  EXPECT_EQ(ReadStatus(second), 200);
}

// Leaving and stopping.

TEST_F(HttpServerTest, RunningCallSeesThatItsClientHasLeft) {
  Serve();
  {
    const PlainClient client = Post("/until_left");
    running_.acquire();
  }
  seen_leaving_.acquire();
  Post("/until_left").Reset();
  seen_leaving_.acquire();
}

TEST_F(HttpServerTest, WaitingForCallsWaitsForClientsThatReadSlowly) {
  Serve();
  EXPECT_TRUE(server_->WaitForCalls(absl::InfinitePast()));
  PlainClient client = Post("/huge");
  EXPECT_EQ(ReadStatus(client), 200);
  EXPECT_FALSE(server_->WaitForCalls(absl::Now()));
  std::string body = client.Read(kHugeBytes);
  EXPECT_EQ(body.size(), kHugeBytes);
  EXPECT_TRUE(server_->WaitForCalls(absl::InfiniteFuture()));
}

TEST_F(HttpServerTest, ServerThatEndsTellsItsCallsAndWaitsForThem) {
  Serve();
  PlainClient client = Post("/until_left");
  const PlainClient silent(address());
  running_.acquire();
  server_.reset();
  EXPECT_TRUE(seen_leaving_.try_acquire());
  EXPECT_EQ(client.ReadToEnd(), "");
}

// TLS.

class HttpsTest : public HttpServerTest {
 protected:
  HttpsTest() { files_.Make("server"); }

  void ServeTls(HttpServerOptions options = {},
                const std::string& client_ca = "") {
    certificates_ =
        TlsCertificates::FromFiles(
            {files_.Cert("server"), files_.Key("server"), client_ca})
            .value();
    options.tls = certificates_.get();
    Serve(options);
  }
  HttpAnswer Call(const std::string& path, const HttpClientTls& tls) const {
    return CallHttp(address(), path == "/page" ? "GET" : "POST", path,
                    {.body = "text"}, tls);
  }
  static HttpClientTls WithCertificate(const std::string& ca,
                                       const TestCertificates& files,
                                       const std::string& name) {
    return {ca, files.Cert(name), files.Key(name)};
  }

  const TestCertificates files_;
  std::unique_ptr<TlsCertificates> certificates_;
};

TEST_F(HttpsTest, ServesPagesAndCalls) {
  ServeTls();
  EXPECT_EQ(Call("/page", {files_.ca()}).body, "hi");
  EXPECT_EQ(Call("/call", {files_.ca()}).body, "text");
  EXPECT_EQ(Call("/huge", {files_.ca()}).body.size(), kHugeBytes);
}

TEST_F(HttpsTest, PlainTextIsAnsweredWithAHint) {
  ServeTls();
  const std::string response = Talk(address(), "GET /page HTTP/1.1\r\n\r\n");
  EXPECT_THAT(response, StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(response, HasSubstr("HTTPS only"));
  EXPECT_EQ(PageStatus(), 400);
}

TEST_F(HttpsTest, SilentClientIsClosedBeforeAndWithinTheHandshake) {
  ServeTls({.timeouts = {.head = kSoon}});
  EXPECT_EQ(Talk(address(), ""), "");
  EXPECT_EQ(Talk(address(), "\x16\x03\x01"), "");
}

TEST_F(HttpsTest, NonsenseInsteadOfAHandshakeIsClosed) {
  ServeTls();
  EXPECT_THAT(Talk(address(), "\x16 nonsense nonsense nonsense"),
              Not(HasSubstr("HTTP")));
  EXPECT_EQ(Call("/page", {files_.ca()}).status, 200);
}

TEST_F(HttpsTest, RunningCallSeesThatItsClientHasLeft) {
  ServeTls();
  const std::string arguments = " -quiet -no_ign_eof -connect " + address() +
                                " -CAfile " + files_.ca() + " 2>/dev/null";
  std::FILE* const client =
      popen(("exec openssl s_client" + arguments).c_str(), "w");
  ASSERT_NE(client, nullptr);
  std::fputs("POST /until_left HTTP/1.1\r\nContent-Length: 0\r\n\r\n", client);
  std::fflush(client);
  running_.acquire();
  pclose(client);
  seen_leaving_.acquire();
}

TEST_F(HttpsTest, CallsNeedTheClientCertificateAndPagesDoNot) {
  ServeTls({.calls_need_certificate = true}, files_.ca());
  files_.Make("client");
  const HttpClientTls none = {files_.ca()};
  EXPECT_EQ(Call("/page", none).status, 200);
  const HttpAnswer refused = Call("/call", none);
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.body, "MISSING_CERTIFICATE");
  const HttpClientTls good = WithCertificate(files_.ca(), files_, "client");
  EXPECT_EQ(Call("/page", good).status, 200);
  EXPECT_EQ(Call("/call", good).status, 200);
}

TEST_F(HttpsTest, CertificateOfAnotherAuthorityFailsTheHandshake) {
  ServeTls({}, files_.ca());
  const TestCertificates others;
  others.Make("stranger");
  const HttpAnswer refused =
      Call("/page", WithCertificate(files_.ca(), others, "stranger"));
  EXPECT_EQ(refused.status, 0);
  EXPECT_THAT(refused.body, HasSubstr("alert"));
}

TEST_F(HttpsTest, RenewedCertificatesAreForNewConnections) {
  ServeTls();
  const TestCertificates renewed;
  renewed.Make("server");
  EXPECT_EQ(Call("/page", {renewed.ca()}).status, 0);
  std::filesystem::copy_file(renewed.Cert("server"), files_.Cert("server"),
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_FALSE(certificates_->Refresh().ok());  // the key is still the old one
  EXPECT_EQ(Call("/page", {files_.ca()}).status, 200);
  std::filesystem::copy_file(renewed.Key("server"), files_.Key("server"),
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_TRUE(certificates_->Refresh().value());
  EXPECT_EQ(Call("/page", {renewed.ca()}).status, 200);
  EXPECT_EQ(Call("/page", {files_.ca()}).status, 0);
}

}  // namespace
}  // namespace semrank
