// Against the TLS port of a real redis-server.
#include "model/redis/redis_tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "model/redis/redis_client.h"
#include "tests/support/redis_process.h"
#include "tests/support/status_matchers.h"
#include "tests/support/tcp_listener.h"
#include "tests/support/test_certificates.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

int FreePort() {
  const std::string address = TcpListener().address();
  return std::stoi(address.substr(address.rfind(':') + 1));
}

class RedisTlsTest : public ::testing::Test {
 protected:
  RedisTlsTest() {
    certificates_.Make("redis");
    certificates_.Make("client");
    url_.host = "localhost";
    url_.port = FreePort();
    url_.tls = true;
    url_.tls_files = {.ca = certificates_.ca(),
                      .cert = certificates_.Cert("client"),
                      .key = certificates_.Key("client")};
    redis_ = std::make_unique<RedisProcess>(std::vector<std::string>{
        "--tls-port", std::to_string(url_.port), "--tls-auth-clients", "yes",
        "--tls-ca-cert-file", certificates_.ca(), "--tls-cert-file",
        certificates_.Cert("redis"), "--tls-key-file",
        certificates_.Key("redis")});
  }

  std::unique_ptr<RedisPool> MakePool() const {
    auto pool = std::make_unique<RedisPool>(url_, /*max_connections=*/2);
    pool->LookUpAddress();
    return pool;
  }
  static RedisPool::Deadline In(double seconds) {
    return std::chrono::steady_clock::now() +
           std::chrono::milliseconds(static_cast<int>(1000 * seconds));
  }
  static absl::Status Run(RedisPool& pool, const RedisCommand& command,
                          RedisPool::Deadline deadline = In(30)) {
    return pool.Call({&command, 1}, deadline, {.max_bytes = 64 << 20}).status();
  }
  absl::Status Ping() const { return Run(*MakePool(), {"PING"}); }

  const TestCertificates certificates_;
  RedisUrl url_;
  std::unique_ptr<RedisProcess> redis_;
};

TEST_F(RedisTlsTest, LargeCommandsAndRepliesPass) {
  const auto pool = MakePool();
  const std::string value(10 << 20, 'x');
  ASSERT_THAT(Run(*pool, {"SET", "key", value}), IsOk());
  const RedisCommand get = {"GET", "key"};
  const auto replies = pool->Call({&get, 1}, In(30), {.max_bytes = 64 << 20});
  ASSERT_THAT(replies.status(), IsOk());
  EXPECT_EQ(TextOf(*replies->front()), value);
}

TEST_F(RedisTlsTest, NamesAndAddressesAreVerified) {
  RedisTls tls(url_.tls_files);
  const auto connect = [&](const std::string& host) {
    url_.host = host;
    return RedisConnection::Connect(url_, "127.0.0.1", In(30), &tls).status();
  };
  // Logging in sends the first bytes.
  url_.db = 1;
  EXPECT_THAT(connect("localhost"), IsOk());
  EXPECT_THAT(connect("127.0.0.1"), IsOk());
  for (const char* other : {"redis.example", "127.0.0.2"}) {
    EXPECT_THAT(connect(other),
                StatusIs(absl::StatusCode::kUnavailable,
                         HasSubstr("its certificate is refused")));
  }
}

TEST_F(RedisTlsTest, AnotherAuthorityIsRefused) {
  const TestCertificates others;
  url_.tls_files.ca = others.ca();
  EXPECT_THAT(Ping(), StatusIs(absl::StatusCode::kUnavailable,
                               HasSubstr("its certificate is refused")));
  // None of those that the system trusts made it.
  url_.tls_files.ca = "";
  EXPECT_THAT(Ping(), StatusIs(absl::StatusCode::kUnavailable,
                               HasSubstr("its certificate is refused")));
  url_.tls_files = {};
  EXPECT_THAT(Ping(), StatusIs(absl::StatusCode::kUnavailable,
                               HasSubstr("its certificate is refused")));
}

// As rediss:// without a file of authorities. OpenSSL reads SSL_CERT_FILE in
// place of the system's file.
TEST_F(RedisTlsTest, AnAuthorityThatTheSystemTrustsIsAccepted) {
  url_.tls_files.ca = "";
  setenv("SSL_CERT_FILE", certificates_.ca().c_str(), /*overwrite=*/1);
  EXPECT_THAT(Ping(), IsOk());
  unsetenv("SSL_CERT_FILE");
  EXPECT_THAT(Ping(), StatusIs(absl::StatusCode::kUnavailable,
                               HasSubstr("its certificate is refused")));
}

TEST_F(RedisTlsTest, WithoutItsCertificateTheClientIsRefused) {
  url_.tls_files.cert = url_.tls_files.key = "";
  EXPECT_THAT(Ping(), StatusIs(absl::StatusCode::kUnavailable));
}

// Redis takes the handshake for the beginning of a line.
TEST_F(RedisTlsTest, APortInPlainTextDoesNotAnswer) {
  url_.port = redis_->port();
  EXPECT_THAT(Run(*MakePool(), {"PING"}, In(0.05)),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
}

TEST_F(RedisTlsTest, AfterARotationBothSidesConnectAgain) {
  const auto pool = MakePool();
  ASSERT_THAT(Run(*pool, {"PING"}), IsOk());
  certificates_.Make("redis");
  certificates_.Make("client");
  redis_->Kill();
  redis_->StartAgain();
  EXPECT_THAT(Run(*pool, {"PING"}), IsOk());
}

TEST_F(RedisTlsTest, FilesThatCannotBeReadAreNamedAndLeaveTheOldOnes) {
  const auto pool = MakePool();
  ASSERT_THAT(Run(*pool, {"PING"}), IsOk());
  const std::string path = certificates_.dir().Write("client.pem", "broken");
  ASSERT_EQ(path, url_.tls_files.cert);
  redis_->Kill();
  redis_->StartAgain();
  EXPECT_THAT(Run(*pool, {"PING"}), IsOk());
  EXPECT_THAT(Ping(), StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr(url_.tls_files.cert)));
}

}  // namespace
}  // namespace semrank
