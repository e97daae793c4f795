#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "server/base/errors.h"
#include "server/http/http_origins.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(HttpHostsTest, AddressesAndLocalhostAlwaysPass) {
  for (const char* host : {"", "localhost", "LOCALHOST:8080", "localhost.",
                           "127.0.0.1", "127.0.0.1:8080", "10.1.2.3:80",
                           "[::1]", "[::1]:8080", "[2001:db8::7]:80"}) {
    EXPECT_THAT(CheckHost(host, {}), IsOk()) << host;
  }
}

TEST(HttpHostsTest, OtherNamesPassOnlyWhenTheyAreServed) {
  for (const char* host :
       {"evil.test", "evil.test:8080", "localhost.evil.test", "evil-localhost",
        "127.0.0.1.evil.test", "127.0.0.1@evil.test", "[evil.test]", "[", ":",
        "[::1].evil.test", "evil.test, 127.0.0.1"}) {
    const absl::Status refusal = CheckHost(host, {"shop.test"});
    EXPECT_THAT(refusal, StatusIs(absl::StatusCode::kPermissionDenied,
                                  HasSubstr("--server_names")))
        << host;
    EXPECT_EQ(ErrorReason(refusal), "HOST_NOT_ALLOWED");
    EXPECT_THAT(CheckHost(host, {"*"}), IsOk());
  }
  EXPECT_THAT(CheckHost("Shop.test.:81", {"a", "shop.test"}), IsOk());
}

// Operators copy the flag from the log into a shell.
TEST(HttpHostsTest, OnlyPlainNamesAreRepeatedInTheFlag) {
  using ::testing::EndsWith;
  EXPECT_THAT(CheckHost("Shop-1.test:80", {}),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       EndsWith("with --server_names=Shop-1.test")));
  for (const char* host : {"a;id", "$(id)", "a`id`", "a'b", "a b", "*", "~"}) {
    EXPECT_THAT(CheckHost(host, {}),
                StatusIs(absl::StatusCode::kPermissionDenied,
                         EndsWith("with --server_names")))
        << host;
  }
}

TEST(HttpHostsTest, LoopbackServesItsNamesAndThoseOfAllowedPages) {
  for (const char* address : {"127.0.0.1:80", "localhost:80", "[::1]:80"}) {
    EXPECT_THAT(ServedHosts(address, {}, {}), ElementsAre());
    EXPECT_THAT(ServedHosts(address, {"a.test"}, {"https://b.test:81"}),
                ElementsAre("a.test", "b.test"));
    EXPECT_THAT(ServedHosts(address, {}, {"*"}), ElementsAre("*"));
  }
}

TEST(HttpHostsTest, ElsewhereEveryNameIsServedUnlessNamesAreGiven) {
  for (const char* address : {"0.0.0.0:80", "[::]:80", "shop.test:80"}) {
    EXPECT_THAT(ServedHosts(address, {}, {"https://b.test"}), ElementsAre("*"));
    EXPECT_THAT(ServedHosts(address, {"a.test"}, {}), ElementsAre("a.test"));
  }
}

TEST(HttpHostsTest, ServerNamesHaveNoSchemeAndNoPort) {
  EXPECT_THAT(CheckServerNames({"*", "shop.test", "semrank_1"}), IsOk());
  for (const std::string bad : {"", "http://a.test", "a.test:80", "a b"}) {
    EXPECT_THAT(CheckServerNames({bad}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(bad)));
  }
}

}  // namespace
}  // namespace semrank
