#include "client/lib/server_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

class GoodAddressTest : public ::testing::TestWithParam<std::string_view> {};

TEST_P(GoodAddressTest, IsTaken) {
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
        BadAddressCase{"Url", "http://search:50051", "[HOST]:PORT"},
        BadAddressCase{"Blank", "search 1:50051", "without blanks"},
        BadAddressCase{"UnixWithoutPath", "unix:", "no path"},
        BadAddressCase{"DnsWithoutPort", "dns:///search", "HOST:PORT"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(IsLoopbackTest, OnlyWhatCanOnlyBeThisMachine) {
  EXPECT_TRUE(IsLoopback("127.0.0.1:50051"));
  EXPECT_TRUE(IsLoopback("localhost:50051"));
  EXPECT_TRUE(IsLoopback("dns:///localhost:50051"));
  EXPECT_TRUE(IsLoopback("[::1]:50051"));
  EXPECT_FALSE(IsLoopback("10.0.0.1:50051"));
  EXPECT_FALSE(IsLoopback("localhost.example:50051"));
}

}  // namespace
}  // namespace semrank
