#include "server/security_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

TEST(SecurityOptionsTest, DefaultsAreValidAndDescribedAsAFlagfileTakesThem) {
  const SecurityOptions options = SecurityOptionsFromFlags().value();
  EXPECT_EQ(DescribeSecurityOptions(options),
            "tls_cert=\ntls_key=\ntls_client_ca=\napi_keys_file=\n"
            "health_address=\nhttp_calls=auto\n");
}

TEST(SecurityOptionsTest, TlsFlagsGoTogether) {
  EXPECT_THAT(ValidateSecurityOptions({.tls = {.cert = "c", .key = "k"}}),
              IsOk());
  EXPECT_THAT(ValidateSecurityOptions({.tls = {.cert = "c"}}),
              StatusIs(kInvalid, HasSubstr("needs --tls_key")));
  EXPECT_THAT(ValidateSecurityOptions({.tls = {.key = "k"}}),
              StatusIs(kInvalid, StartsWith("--tls_key=k")));
  EXPECT_THAT(ValidateSecurityOptions({.tls = {.client_ca = "a"}}),
              StatusIs(kInvalid, StartsWith("--tls_client_ca=a")));
}

TEST(SecurityOptionsTest, HttpCallsNeedWhatGrpcNeedsUnlessAskedOtherwise) {
  const TlsFiles mutual = {.cert = "c", .key = "k", .client_ca = "a"};
  EXPECT_FALSE(HttpCallsNeedCertificate({}));
  EXPECT_FALSE(HttpCallsNeedCertificate({.tls = {.cert = "c", .key = "k"}}));
  EXPECT_TRUE(HttpCallsNeedCertificate({.tls = mutual}));
  EXPECT_TRUE(
      HttpCallsNeedCertificate({.tls = mutual, .api_keys_file = "keys"}));
  EXPECT_FALSE(HttpCallsNeedCertificate({.tls = mutual, .http_calls = "on"}));
  EXPECT_THAT(HttpCallsAllowed({.tls = mutual}), IsOk());
  EXPECT_THAT(HttpCallsAllowed({.http_calls = "off"}),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       HasSubstr("--http_calls=off")));
  EXPECT_THAT(ValidateSecurityOptions({.http_calls = "maybe"}),
              StatusIs(kInvalid, StartsWith("--http_calls=maybe")));
}

TEST(SecurityOptionsTest, TheHealthAddressIsAnAddress) {
  EXPECT_THAT(ValidateSecurityOptions({.health_address = "nowhere"}),
              StatusIs(kInvalid, StartsWith("--health_address=nowhere")));
}

}  // namespace
}  // namespace semrank
