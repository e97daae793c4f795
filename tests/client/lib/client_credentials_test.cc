#include "client/lib/client_credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

TEST(ClientCredentialsTest, WithoutFilesThereIsPlainTextAndNoKey) {
  unsetenv("SEMRANK_API_KEY");
  ASSERT_OK_AND_ASSIGN(const ClientCredentials none, ReadCredentials({}));
  EXPECT_THAT(CheckCredentials(none), IsOk());
  EXPECT_EQ(none.tls_ca + none.api_key, "");
}

TEST(ClientCredentialsTest, AKeyComesFromItsFileElseFromTheEnvironment) {
  const TempDir dir;
  setenv("SEMRANK_API_KEY", "of-the-environment", 1);
  EXPECT_EQ(ReadCredentials({})->api_key, "of-the-environment");
  const std::string path = dir.Write("key", " of-the-file\n");
  EXPECT_EQ(ReadCredentials({.api_key_file = path})->api_key, "of-the-file");
  unsetenv("SEMRANK_API_KEY");
  EXPECT_THAT(ReadCredentials({.api_key_file = dir.Write("empty", "\n")}),
              StatusIs(kInvalid, HasSubstr("empty")));
}

TEST(ClientCredentialsTest, MissingFilesAreNamed) {
  EXPECT_THAT(ReadCredentials({.tls_ca = "/none/ca"}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/none/ca")));
}

TEST(ClientCredentialsTest, WhatDoesNotGoTogetherIsRefused) {
  EXPECT_THAT(CheckCredentials({.tls_ca = "a", .tls_cert = "c"}),
              StatusIs(kInvalid));
  EXPECT_THAT(CheckCredentials({.tls_cert = "c", .tls_key = "k"}),
              StatusIs(kInvalid));
  EXPECT_THAT(CheckCredentials({.api_key = "two words"}),
              StatusIs(kInvalid, Not(HasSubstr("words"))));
}

}  // namespace
}  // namespace semrank
