#include <algorithm>
#include <vector>

#include "absl/strings/str_replace.h"
#include "tests/server/http/http_server_fixture.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(HttpServerTest, APageWithAQueryMayBeACall) {
  calls_["/page?"] = MakeCall([](const HttpRequest& request) {
    return HttpResponse{.body = request.query};
  });
  calls_["/page?"].takes_get = true;
  Serve();
  EXPECT_EQ(HttpGet(address(), "/page?q=a+b?").body, "q=a+b?");
  EXPECT_EQ(HttpGet(address(), "/page").body, "hi");
  EXPECT_EQ(HttpGet(address(), "/thread?q").status, 200);
  EXPECT_THAT(HttpGet(address(), "/nothing").body, Not(HasSubstr("/page?")));
}

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

TEST_F(HttpServerTest, TakesTheTargetOfAProxyWithItsHost) {
  Serve();
  for (const std::string target : {"http://%s/page", "HTTP://%s/page?a=b"}) {
    const std::string url = absl::StrReplaceAll(target, {{"%s", address()}});
    EXPECT_EQ(HttpGet(address(), url).body, "hi") << url;
    // The page's own origin is that of the target, whatever Host says.
    EXPECT_THAT(SendAndReceive(
                    address(),
                    "POST http://shop.example/call HTTP/1.1\r\nHost: other\r\n"
                    "Origin: http://shop.example\r\nContent-Length: 0\r\n"
                    "Connection: close\r\n\r\n"),
                StartsWith("HTTP/1.1 200 "));
  }
  EXPECT_EQ(HttpGet(address(), "http://host").status, 404);
}

TEST_F(HttpServerTest, SkipsEmptyLinesBeforeARequest) {
  Serve();
  PlainClient client(address());
  for (const std::string before : {"\r\n", "\r\n\r\n", ""}) {
    ASSERT_TRUE(client.Send(before + "POST /call HTTP/1.1\r\nHost: h\r\n"
                                     "Content-Length: 2\r\n\r\nab"));
    EXPECT_EQ(ReadStatus(client), 200);
    while (client.Read(1) != "b") {
    }
    // As browsers once did after a body.
    ASSERT_TRUE(client.Send("\r"));
    ASSERT_TRUE(client.Send("\n"));
  }
}

// Probes of load balancers send such requests; browsers do not.
TEST_F(HttpServerTest, Http10NeedsNoHost) {
  Serve({.served_hosts = {"shop.test"}});
  EXPECT_THAT(SendAndReceive(address(), "GET /page HTTP/1.0\r\n\r\n"),
              StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(SendAndReceive(address(),
                             "GET /page HTTP/1.0\r\nHost: evil.test\r\n\r\n"),
              StartsWith("HTTP/1.1 421 "));
}

TEST_F(HttpServerTest, AnEmptyHostIsAllowed) {
  Serve();
  EXPECT_THAT(SendAndReceive(address(),
                             "GET /page HTTP/1.1\r\nHost:\r\n"
                             "Connection: close\r\n\r\n"),
              StartsWith("HTTP/1.1 200 "));
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
  EXPECT_EQ(
      StatusOf(address(),
               "POST /call HTTP/1.1\r\nHost: h\r\nAuthorization: refused\r\n"
               "Content-Length: 1000\r\n\r\n"),
      401);
  EXPECT_EQ(
      StatusOf(
          address(),
          "POST /call HTTP/1.1\r\nHost: h\r\nContent-Length: 100001\r\n\r\n"),
      413);
}

TEST_F(HttpServerTest, ChunkedBodyIsReadAndBounded) {
  Serve();
  const std::string head =
      "POST /call HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
      "Transfer-Encoding: chunked\r\n\r\n";
  EXPECT_THAT(
      SendAndReceive(address(), head + "2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n"),
      ::testing::EndsWith("\r\n\r\nabcde"));
  std::string chunks;
  for (int i = 0; i < 20; ++i) {
    chunks += "1770\r\n" + std::string(6'000, 'x') + "\r\n";
  }
  EXPECT_THAT(SendAndReceive(address(), head + chunks + "0\r\n\r\n"),
              StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(SendAndReceive(address(), head + "2;" + std::string(20'000, 'x')),
              StartsWith("HTTP/1.1 400 "));
}

TEST_F(HttpServerTest, CallsTakePostOnly) {
  Serve();
  const HttpAnswer got = HttpGet(address(), "/call");
  EXPECT_EQ(got.status, 405);
  EXPECT_EQ(got.body, "NOT_IMPLEMENTED");
  EXPECT_THAT(got.headers, HasSubstr("Allow: POST\n"));
}

TEST_F(HttpServerTest, CompressedBodiesAreRefusedUnread) {
  Serve();
  const std::string answer = SendAndReceive(
      address(),
      "POST /call HTTP/1.1\r\nHost: h\r\nContent-Encoding: gzip\r\n"
      "Content-Length: 1000\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 415 "));
  EXPECT_THAT(answer, HasSubstr("\r\nAccept-Encoding: identity\r\n"));
  EXPECT_THAT(answer, HasSubstr("MALFORMED_MESSAGE"));
  EXPECT_EQ(CallHttp(address(), "POST", "/call",
                     {"Content-Encoding: Identity\r\n", "body"})
                .body,
            "body");
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
  client.Send(
      "POST /call HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nhalf");
  client.EndSending();
  const std::string response = client.ReadToEnd();
  EXPECT_THAT(response, StartsWith("HTTP/1.1 408 "));
  EXPECT_THAT(response, HasSubstr("\r\n\r\nCANCELLED after admission"));
}

TEST_F(HttpServerTest, ClientThatExpectsContinueGetsItBeforeItsBody) {
  Serve();
  const std::string expecting =
      "POST /call HTTP/1.1\r\nHost: h\r\nConnection: close\r\nExpect: "
      "100-continue\r\n";
  PlainClient client(address());
  client.Send(expecting + "Content-Length: 4\r\n\r\n");
  const std::string interim = "HTTP/1.1 100 Continue\r\n\r\n";
  EXPECT_EQ(client.Read(interim.size()), interim);
  client.Send("body");
  const std::string response = client.ReadToEnd();
  EXPECT_THAT(response, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(response, HasSubstr("\r\n\r\nbody"));

  EXPECT_EQ(StatusOf(address(), expecting + "Content-Length: 4\r\n"
                                            "Authorization: refused\r\n\r\n"),
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

TEST_F(HttpServerTest, LargeResponsesAreCompressedForThoseWhoAcceptIt) {
  Serve();
  const std::string body(9'999, 'x');
  const HttpAnswer gzip = CallHttp(address(), "POST", "/call",
                                   {"Accept-Encoding: br, gzip\r\n", body});
  EXPECT_THAT(gzip.headers, HasSubstr("Content-Encoding: gzip\n"));
  EXPECT_LT(gzip.body.size(), 100u);
  EXPECT_TRUE(gzip.body.starts_with("\x1f\x8b"));
  EXPECT_EQ(CallHttp(address(), "POST", "/call",
                     {"Accept-Encoding: gzip;q=abc\r\n", body})
                .body,
            gzip.body);
  for (const char* accepted : {"identity", "gzip;q=0", "gzip;q=0, *",
                               "*, gzip;q=0", "deflate, *;q=0"}) {
    EXPECT_EQ(
        CallHttp(address(), "POST", "/call",
                 {"Accept-Encoding: " + std::string(accepted) + "\r\n", body})
            .body,
        body);
  }
  EXPECT_EQ(
      CallHttp(address(), "GET", "/page", {"Accept-Encoding: gzip\r\n"}).body,
      "hi");
}

// Pages of other origins.

TEST_F(HttpServerTest, CallsOfOtherPagesAreRefused) {
  Serve();
  const std::string host = address().substr(0, address().rfind(':'));
  EXPECT_EQ(
      CallHttp(address(), "POST", "/call", {"Origin: http://evil.test\r\n"})
          .status,
      403);
  EXPECT_EQ(
      CallHttp(address(), "POST", "/call", {"Origin: http://" + host + "\r\n"})
          .status,
      200);
  EXPECT_EQ(CallHttp(address(), "POST", "/call", {"Origin: null\r\n"}).status,
            403);
}

TEST_F(HttpServerTest, AProxyThatEndsTlsNamesTheSchemeOfItsPages) {
  Serve();
  const std::string origin =
      "Origin: https://" + address().substr(0, address().rfind(':')) + "\r\n";
  EXPECT_EQ(CallHttp(address(), "POST", "/call", {origin}).status, 403);
  EXPECT_EQ(CallHttp(address(), "POST", "/call",
                     {origin + "X-Forwarded-Proto: https\r\n"})
                .status,
            200);
}

TEST_F(HttpServerTest, AHostThatIsNotServedIs421ForPagesAndCalls) {
  Serve({.served_hosts = {"shop.test"}});
  EXPECT_EQ(PageStatus(), 200);
  for (const auto& [host, status] : {std::pair("shop.test:1", "HTTP/1.1 200 "),
                                     std::pair("evil.test", "HTTP/1.1 421 ")}) {
    for (const char* line : {"GET /page", "POST /call"}) {
      const std::string response = SendAndReceive(
          address(), std::string(line) + " HTTP/1.1\r\nHost: " + host +
                         "\r\nOrigin: http://" + host +
                         "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
      EXPECT_THAT(response, StartsWith(status)) << line;
    }
  }
  EXPECT_THAT(SendAndReceive(address(),
                             "GET /page HTTP/1.1\r\nHost: evil.test\r\n"
                             "Connection: close\r\n\r\n"),
              HasSubstr("--server_names=evil.test"));
}

TEST_F(HttpServerTest, PreflightIsAnsweredForAllowedOriginsOnly) {
  const std::string origin = "Origin: https://shop.test\r\n";
  const std::string ask = origin + "Access-Control-Request-Method: POST\r\n";
  Serve();
  const HttpAnswer refused = CallHttp(address(), "OPTIONS", "/call", {ask});
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.body, "ORIGIN_NOT_ALLOWED");
  Serve({.cors_origins = {"https://shop.test"}});
  const HttpAnswer answer = CallHttp(address(), "OPTIONS", "/call", {ask});
  EXPECT_EQ(answer.status, 204);
  EXPECT_THAT(answer.headers, Not(HasSubstr("Content-Length")));
  EXPECT_THAT(answer.headers,
              HasSubstr("Access-Control-Allow-Origin: https://shop.test\n"));
  EXPECT_THAT(answer.headers, HasSubstr("Access-Control-Allow-Headers: "
                                        "Authorization, Content-Type"));
  const HttpAnswer call = CallHttp(address(), "POST", "/call", {origin});
  EXPECT_EQ(call.status, 200);
  EXPECT_THAT(call.headers, HasSubstr("Access-Control-Allow-Origin"));
  EXPECT_EQ(
      CallHttp(address(), "OPTIONS", "/call", {"Origin: https://evil.test\r\n"})
          .status,
      403);
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
  EXPECT_THAT(SendAndReceive(address(), GetParam().request),
              StartsWith("HTTP/1.1 " + std::to_string(GetParam().status)));
  EXPECT_EQ(PageStatus(), 200);
}

const std::string kPost = "POST /call HTTP/1.1\r\nHost: h\r\n";

INSTANTIATE_TEST_SUITE_P(
    All, MalformedRequestTest,
    ::testing::Values(
        MalformedCase{"Nonsense", "nonsense\r\n\r\n"},
        MalformedCase{"TlsHello", "\x16\x03\x01\x02\x05\x01\r\n\r\n"},
        MalformedCase{"HeadOverTheLimit",
                      "GET /page HTTP/1.1\r\nHost: h\r\nX: " +
                          std::string(100'000, 'x') + "\r\n\r\n",
                      431},
        MalformedCase{"TwoContentLengths", kPost + "Content-Length: 1\r\n"
                                                   "Content-Length: 2\r\n\r\n"},
        MalformedCase{"LengthAndChunks",
                      kPost + "Content-Length: 5\r\n"
                              "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
        MalformedCase{"UnknownEncoding",
                      kPost + "Transfer-Encoding: gzip\r\n\r\n"},
        MalformedCase{"TwoHosts", kPost + "Host: evil.test\r\n\r\n"},
        MalformedCase{"NoHost", "GET /page HTTP/1.1\r\n\r\n"},
        MalformedCase{"NoHostInACall",
                      "POST /call HTTP/1.1\r\nContent-Length: 0\r\n\r\n"},
        MalformedCase{"NoHostBesideThatOfTheTarget",
                      "GET http://127.0.0.1/page HTTP/1.1\r\n\r\n"},
        MalformedCase{"TwoOrigins", kPost + "Origin: http://127.0.0.1\r\n"
                                            "Origin: http://evil.test\r\n\r\n"},
        MalformedCase{"GzipThenChunked",
                      kPost + "Transfer-Encoding: gzip, chunked\r\n\r\n"
                              "0\r\n\r\n"},
        MalformedCase{"TwoTransferEncodings",
                      kPost + "Transfer-Encoding: chunked\r\n"
                              "Transfer-Encoding: chunked\r\n\r\n"
                              "0\r\n\r\n"},
        // The end of the body would be the next request.
        MalformedCase{"ChunksInHttp10",
                      "POST /call HTTP/1.0\r\nConnection: keep-alive\r\n"
                      "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
                      "GET /page HTTP/1.0\r\n\r\n"},
        MalformedCase{"BadChunk", kPost + "Transfer-Encoding: chunked\r\n\r\n"
                                          "no number\r\n"}),
    [](const auto& test) { return test.param.name; });

TEST_F(HttpServerTest, ConnectionIsKeptUntilTheClientAsksToClose) {
  Serve();
  PlainClient client(address());
  for (const char* path : {"/page", "/none"}) {
    client.Send("HEAD " + std::string(path) + " HTTP/1.1\r\nHost: h\r\n\r\n");
    std::string head;
    while (!head.ends_with("\r\n\r\n")) head += client.Read(1);
    EXPECT_THAT(head, HasSubstr("Connection: keep-alive\r\n"));
  }
  // Two at once.
  client.Send(
      "GET /page HTTP/1.1\r\nHost: h\r\n\r\nGET /page HTTP/1.0\r\n\r\n");
  const std::string rest = client.ReadToEnd();
  EXPECT_THAT(rest, HasSubstr("\r\n\r\nhiHTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(rest, HasSubstr("Connection: close\r\n"));
}

// A refused request whose body contains another one.
std::string RefusedRequest(std::size_t num_body_bytes,
                           const std::string& headers = "") {
  std::string body = "GET /page HTTP/1.1\r\nHost: h\r\n\r\n";
  body.resize(num_body_bytes, ' ');
  return "POST /call HTTP/1.1\r\nHost: h\r\nAuthorization: refused\r\n" +
         headers + "Content-Length: " + std::to_string(num_body_bytes) +
         "\r\n\r\n" + body;
}

TEST_F(HttpServerTest, ConnectionIsKeptAfterARefusedBodyThatIsNotLarge) {
  Serve();
  for (const std::size_t num_bytes : {100, 100'000}) {
    const std::string responses = SendAndReceive(
        address(),
        RefusedRequest(num_bytes) +
            "GET /page HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    EXPECT_THAT(responses, StartsWith("HTTP/1.1 401 "));
    EXPECT_THAT(responses, HasSubstr("refusedHTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(responses, ::testing::EndsWith("\r\n\r\nhi"));
  }
}

TEST_F(HttpServerTest, RequestWithALargeUnreadBodyIsTheLastOfItsConnection) {
  Serve();
  for (const std::string& request :
       {RefusedRequest(300'000),
        RefusedRequest(100, "Expect: 100-continue\r\n")}) {
    const std::string response = SendAndReceive(address(), request);
    EXPECT_THAT(response, HasSubstr("401"));
    EXPECT_THAT(response, Not(HasSubstr("200")));
  }
}

TEST_F(HttpServerTest, ClientThatDoesNotSendTheRestOfARefusedBodyIsClosed) {
  Serve({.timeouts = {.body = kSoon}});
  std::string request = RefusedRequest(100);
  request.pop_back();
  EXPECT_THAT(SendAndReceive(address(), request),
              ::testing::EndsWith("refused"));
}

// Notes how long each handler may keep its thread, and answers at once.
class HandlerTimeTest : public HttpServerTest {
 protected:
  HandlerTimeTest() {
    calls_["/time"] = calls_["/call"];
    calls_["/time"].handle = [this](const HttpRequest&, absl::Duration max_time,
                                    HttpDone done) {
      may_keep_.push_back(max_time > absl::ZeroDuration());
      std::move(done)(HttpResponse{});
    };
    // Keeps the I/O thread until `go_on_` has a value.
    calls_["/keep"] = calls_["/call"];
    calls_["/keep"].handle = [this](const HttpRequest&, absl::Duration,
                                    HttpDone done) {
      running_.release();
      go_on_.get_future().wait();
      std::move(done)(HttpResponse{});
    };
  }

  std::promise<void> go_on_;
  std::vector<bool> may_keep_;  // of the I/O thread until its response
};

TEST_F(HandlerTimeTest, OneOfSeveralCallsMayKeepTheThread) {
  Serve();
  std::vector<PlainClient> clients;
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back(address());
    ASSERT_TRUE(clients.back().Send("POST /time HTTP/1.1\r\n"));
  }
  // A later connection, so the server has accepted those.
  EXPECT_EQ(PageStatus(), 200);
  const PlainClient keeping = Post("/keep");
  running_.acquire();
  for (PlainClient& client : clients) {
    ASSERT_TRUE(client.Send("Host: h\r\nContent-Length: 0\r\n\r\n"));
  }
  go_on_.set_value();
  for (PlainClient& client : clients) EXPECT_EQ(ReadStatus(client), 200);
  EXPECT_THAT(may_keep_, ::testing::ElementsAre(false, false, true));
}

TEST_F(HandlerTimeTest, NoResponseIsCompressedInTheThread) {
  Serve();
  EXPECT_EQ(StatusOf(address(),
                     "POST /time HTTP/1.1\r\nHost: h\r\n"
                     "Accept-Encoding: gzip\r\nContent-Length: 0\r\n\r\n"),
            200);
  EXPECT_THAT(may_keep_, ::testing::ElementsAre(false));
}

}  // namespace
}  // namespace semrank
