#include "model/redis/redis_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(RedisUrlTest, HasDefaultsForAllButTheHost) {
  const auto url = ParseRedisUrl("redis://cache");
  ASSERT_THAT(url, IsOk());
  EXPECT_EQ(url->host, "cache");
  EXPECT_EQ(url->port, 6379);
  EXPECT_EQ(url->user, "");
  EXPECT_EQ(url->db, 0);
}

TEST(RedisUrlTest, ItsNameHasNeitherUserNorPassword) {
  const auto url = ParseRedisUrl("redis://me:p%40%2Fs:s@[::1]:7000/3");
  ASSERT_THAT(url, IsOk());
  EXPECT_EQ(url->user, "me");
  EXPECT_EQ(url->password, "p@/s:s");
  EXPECT_EQ(url->host, "::1");
  EXPECT_EQ(NameOf(*url), "redis://[::1]:7000/3");
}

TEST(RedisUrlTest, OneMoreLetterMeansTls) {
  EXPECT_FALSE(ParseRedisUrl("redis://cache").value().tls);
  const auto url = ParseRedisUrl("rediss://me:hush@cache:6380/1");
  ASSERT_THAT(url, IsOk());
  EXPECT_TRUE(url->tls);
  EXPECT_EQ(NameOf(*url), "rediss://cache:6380/1");
}

TEST(RedisUrlTest, WhatIsWrongIsSaidWithoutThePassword) {
  for (const char* text :
       {"redisss://me:hush@host", "redis://hush@host", "redis://me:hush@",
        "redis://me:hush@host:0", "redis://me:hush@host:99999",
        "redis://me:hush@host/x", "redis://me:hush@host/-1",
        "redis://me:hush%4@host", "redis://me:hush@:6379", "redis://", ""}) {
    const absl::Status status = ParseRedisUrl(text).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument)) << text;
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr("hush"))) << text;
  }
}

}  // namespace
}  // namespace semrank
