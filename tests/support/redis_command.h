// One command to a RedisProcess, as from the command line of Redis.
#ifndef SEMRANK_TESTS_SUPPORT_REDIS_COMMAND_H_
#define SEMRANK_TESTS_SUPPORT_REDIS_COMMAND_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/redis/redis_client.h"
#include "tests/support/redis_process.h"
#include "tests/support/status_matchers.h"

namespace semrank {

inline void RunRedis(const RedisProcess& redis, const RedisCommand& command) {
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(60);
  const auto connection = RedisConnection::Connect(
      ParseRedisUrl(redis.url()).value(), "127.0.0.1", deadline);
  ASSERT_THAT(connection.status(), IsOk());
  ASSERT_THAT((*connection)->Call({&command, 1}, deadline).status(), IsOk());
}

}  // namespace semrank

#endif  // SEMRANK_TESTS_SUPPORT_REDIS_COMMAND_H_
