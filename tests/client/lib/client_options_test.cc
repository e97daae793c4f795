#include "client/lib/client_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <string_view>

#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

TEST(ClientCredentialsTest, WithoutFilesConnectionIsPlainTextWithoutKey) {
  unsetenv("SEMRANK_API_KEY");
  ASSERT_OK_AND_ASSIGN(const ClientCredentials none, ReadCredentials({}));
  EXPECT_THAT(CheckCredentials(none), IsOk());
  EXPECT_EQ(none.tls_ca + none.api_key, "");
}

TEST(ClientCredentialsTest, KeyFileWinsOverEnvironment) {
  const TempDir dir;
  setenv("SEMRANK_API_KEY", "of-the-environment", 1);
  EXPECT_EQ(ReadCredentials({})->api_key, "of-the-environment");
  const std::string path = dir.Write("key", " of-the-file\n");
  EXPECT_EQ(ReadCredentials({.api_key_file = path})->api_key, "of-the-file");
  unsetenv("SEMRANK_API_KEY");
  EXPECT_THAT(ReadCredentials({.api_key_file = dir.Write("empty", "\n")}),
              StatusIs(kInvalid, HasSubstr("empty")));
}

TEST(ClientCredentialsTest, AKeyFileMayBeginWithAByteOrderMark) {
  const TempDir dir;
  const std::string path = dir.Write("key", "\xef\xbb\xbfsecret\r\n");
  EXPECT_EQ(ReadCredentials({.api_key_file = path})->api_key, "secret");
}

TEST(ClientCredentialsTest, AKeyThatCannotBeSentNamesItsFile) {
  const TempDir dir;
  const std::string path = dir.Write("two.key", "one\nother\n");
  EXPECT_THAT(ReadCredentials({.api_key_file = path}),
              StatusIs(kInvalid, AllOf(HasSubstr("API key of " + path),
                                       HasSubstr("on one line"),
                                       Not(HasSubstr("other")))));
  setenv("SEMRANK_API_KEY", "two words", 1);
  EXPECT_THAT(ReadCredentials({}),
              StatusIs(kInvalid, HasSubstr("API key of SEMRANK_API_KEY")));
  unsetenv("SEMRANK_API_KEY");
}

TEST(ClientCredentialsTest, MissingFilesAreNamed) {
  EXPECT_THAT(ReadCredentials({.tls_ca = "/none/ca"}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/none/ca")));
}

TEST(ClientCredentialsTest, FilesThatAreNotPemAreNamed) {
  const TempDir dir;
  const std::string empty = dir.Write("empty.pem", "");
  const std::string certificate =
      dir.Write("ca.pem", "-----BEGIN CERTIFICATE-----\n");
  EXPECT_THAT(ReadCredentials({.tls_ca = empty}),
              StatusIs(kInvalid, HasSubstr("empty.pem: no PEM certificate")));
  EXPECT_THAT(ReadCredentials({.tls_key = certificate}),
              StatusIs(kInvalid, HasSubstr("ca.pem: no PEM private key")));
  EXPECT_THAT(ReadCredentials({.tls_ca = certificate}), IsOk());
}

TEST(ClientCredentialsTest, IncompleteCredentialsAreInvalid) {
  EXPECT_THAT(CheckCredentials({.tls_ca = "a", .tls_cert = "c"}),
              StatusIs(kInvalid));
  EXPECT_THAT(CheckCredentials({.tls_cert = "c", .tls_key = "k"}),
              StatusIs(kInvalid));
  EXPECT_THAT(CheckCredentials({.api_key = "two words"}),
              StatusIs(kInvalid, Not(HasSubstr("words"))));
}

class GoodAddressTest : public ::testing::TestWithParam<std::string_view> {};

TEST_P(GoodAddressTest, IsAccepted) {
  EXPECT_THAT(CheckServerAddress(GetParam()), IsOk());
}

INSTANTIATE_TEST_SUITE_P(Forms, GoodAddressTest,
                         ::testing::Values("localhost:50051", "10.0.0.1:1",
                                           "search.example:65535",
                                           "[::1]:50051", "unix:/run/s.sock",
                                           "dns:///search:50051"));

struct BadAddressCase {
  std::string_view name, address, reason;
};

class BadAddressTest : public ::testing::TestWithParam<BadAddressCase> {};

TEST_P(BadAddressTest, IsRefusedWithTheReason) {
  EXPECT_THAT(CheckServerAddress(GetParam().address),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr(std::string(GetParam().reason))));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, BadAddressTest,
    ::testing::Values(
        BadAddressCase{"Empty", "", "HOST:PORT"},
        BadAddressCase{"NoPort", "localhost", "HOST:PORT"},
        BadAddressCase{"EmptyPort", "localhost:", "HOST:PORT"},
        BadAddressCase{"PortZero", "localhost:0", "from 1 to 65535"},
        BadAddressCase{"PortTooLarge", "localhost:65536", "from 1 to 65535"},
        BadAddressCase{"PortIsAName", "localhost:http", "HOST:PORT"},
        BadAddressCase{"NoHost", ":50051", "no host"},
        BadAddressCase{"BareIpv6", "::1:50051", "[HOST]:PORT"},
        BadAddressCase{"Url", "http://search:50051", "leave http:// out"},
        BadAddressCase{"Blank", "search 1:50051", "without blanks"},
        BadAddressCase{"UnixWithoutPath", "unix:", "no path"},
        BadAddressCase{"DnsWithoutPort", "dns:///search", "HOST:PORT"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(IsLoopbackTest, AcceptsOnlyAddressesOfThisMachine) {
  EXPECT_TRUE(IsLoopback("127.0.0.1:50051"));
  EXPECT_TRUE(IsLoopback("localhost:50051"));
  EXPECT_TRUE(IsLoopback("dns:///localhost:50051"));
  EXPECT_TRUE(IsLoopback("[::1]:50051"));
  EXPECT_FALSE(IsLoopback("10.0.0.1:50051"));
  EXPECT_FALSE(IsLoopback("localhost.example:50051"));
  EXPECT_FALSE(IsLoopback("127.example.org:50051"));
}

}  // namespace
}  // namespace semrank
