// One command to a RedisProcess, as from the command line of Redis.
#ifndef SEMRANK_TESTS_SUPPORT_REDIS_COMMAND_H_
#define SEMRANK_TESTS_SUPPORT_REDIS_COMMAND_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/redis/redis_client.h"
#include "tests/support/redis_process.h"
#include "tests/support/status_matchers.h"

namespace semrank {

// Null if the command failed.
inline RedisReply AskRedis(const RedisProcess& redis,
                           const RedisCommand& command) {
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(60);
  const auto connection = RedisConnection::Connect(
      ParseRedisUrl(redis.url()).value(), "127.0.0.1", deadline);
  EXPECT_THAT(connection.status(), IsOk());
  if (!connection.ok()) return nullptr;
  auto replies =
      (*connection)
          ->Call({&command, 1}, deadline,
                 {.max_elements = 100'000, .max_bytes = std::size_t{1} << 20});
  EXPECT_THAT(replies.status(), IsOk());
  return replies.ok() ? std::move(replies->front()) : nullptr;
}

inline void RunRedis(const RedisProcess& redis, const RedisCommand& command) {
  ASSERT_NE(AskRedis(redis, command), nullptr);
}

}  // namespace semrank

#endif  // SEMRANK_TESTS_SUPPORT_REDIS_COMMAND_H_
