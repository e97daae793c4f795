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
            "health_address=\n");
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

TEST(SecurityOptionsTest, TheHealthAddressIsAnAddress) {
  EXPECT_THAT(ValidateSecurityOptions({.health_address = "nowhere"}),
              StatusIs(kInvalid, StartsWith("--health_address=nowhere")));
}

}  // namespace
}  // namespace semrank
