#include "server/http/http_origins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

TEST(HttpOriginsTest, PageOfTheServerItselfHasItsSchemeHostAndPort) {
  EXPECT_TRUE(IsSameOrigin("http://shop.test:8080", "http", "shop.test:8080"));
  EXPECT_TRUE(IsSameOrigin("https://Shop.test", "https", "shop.test"));
  EXPECT_FALSE(IsSameOrigin("http://shop.test", "https", "shop.test"));
  EXPECT_FALSE(IsSameOrigin("https://shop.test", "http", "shop.test"));
  EXPECT_FALSE(IsSameOrigin("http://shop.test:81", "http", "shop.test:80"));
  EXPECT_FALSE(IsSameOrigin("null", "http", ""));
  EXPECT_FALSE(IsSameOrigin("", "http", ""));
  EXPECT_FALSE(IsSameOrigin("http://", "http", ""));
}

TEST(HttpOriginsTest, AllowedAreTheListedOnesOrAll) {
  EXPECT_TRUE(IsAllowedOrigin("https://a.test", {"https://a.test"}));
  EXPECT_FALSE(IsAllowedOrigin("http://a.test", {"https://a.test"}));
  EXPECT_FALSE(IsAllowedOrigin("https://a.test", {}));
  EXPECT_TRUE(IsAllowedOrigin("null", {"*"}));
}

TEST(HttpOriginsTest, RefusalNamesTheOriginAndTheFlagThatAllowsIt) {
  EXPECT_THAT(
      OriginNotAllowed("http://a.test:5173"),
      StatusIs(absl::StatusCode::kPermissionDenied,
               ::testing::HasSubstr("--cors_origins=http://a.test:5173")));
  EXPECT_THAT(OriginNotAllowed("null"),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       ::testing::HasSubstr("--cors_origins='*'")));
  EXPECT_THAT(OriginNotAllowed("http://a.test;$(id)"),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       ::testing::EndsWith("with --cors_origins")));
}

TEST(HttpOriginsTest, ValuesThatNoBrowserSendsAreRefused) {
  EXPECT_THAT(CheckOrigins({"*", "http://a.test:8080"}), IsOk());
  for (const char* bad :
       {"a.test", "https://", "https://a.test/", "https://a b"}) {
    EXPECT_THAT(
        CheckOrigins({bad}),
        StatusIs(absl::StatusCode::kInvalidArgument, ::testing::HasSubstr(bad)))
        << bad;
  }
}

}  // namespace
}  // namespace semrank
