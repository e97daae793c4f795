#include "tests/server/http/http_server_fixture.h"
#include "tests/support/test_certificates.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

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
  const std::string response =
      SendAndReceive(address(), "GET /page HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(response, StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(response, HasSubstr("speaks TLS: use https://"));
  EXPECT_EQ(PageStatus(), 400);
}

TEST_F(HttpsTest, TlsAtAPlainPortIsAnsweredWithAHint) {
  Serve();
  const HttpAnswer failed = Call("/page", {files_.ca()});
  EXPECT_EQ(failed.status, 0);
  EXPECT_THAT(failed.body, HasSubstr("wrong version number"));
  for (const char* hello : {"\x16", "\x16\x03\x01 hello"}) {
    const std::string response = SendAndReceive(address(), hello);
    EXPECT_THAT(response, StartsWith("HTTP/1.1 400 "));
    EXPECT_THAT(response, HasSubstr("speaks plain text: use http://"));
  }
  EXPECT_EQ(PageStatus(), 200);
}

TEST_F(HttpsTest, SilentClientIsClosedBeforeAndWithinTheHandshake) {
  ServeTls({.timeouts = {.head = kSoon}});
  EXPECT_EQ(SendAndReceive(address(), ""), "");
  EXPECT_EQ(SendAndReceive(address(), "\x16\x03\x01"), "");
}

TEST_F(HttpsTest, NonsenseInsteadOfAHandshakeIsClosed) {
  ServeTls();
  EXPECT_THAT(SendAndReceive(address(), "\x16 nonsense nonsense nonsense"),
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
  std::fputs(
      "POST /until_left HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
      client);
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
