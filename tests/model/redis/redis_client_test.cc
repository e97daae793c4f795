// A failover between two real redis-servers.
#include "model/redis/redis_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/redis_command.h"
#include "tests/support/redis_process.h"
#include "tests/support/status_matchers.h"
#include "tests/support/tcp_proxy.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

class RedisFailoverTest : public ::testing::Test {
 protected:
  RedisFailoverTest() {
    pool_.LookUpAddress();
    EXPECT_THAT(Call({"SET", "key", "value"}), IsOk());
    RunRedis(old_master_, {"REPLICAOF", "127.0.0.1", "1"});
  }

  absl::Status Call(const RedisCommand& command) {
    return pool_.Call({&command, 1}, RedisPool::DeadlineIn(absl::Seconds(30)))
        .status();
  }

  RedisProcess old_master_;
  RedisProcess new_master_;
  TcpProxy proxy_{old_master_.port()};
  RedisPool pool_{
      ParseRedisUrl("redis://127.0.0.1:" + std::to_string(proxy_.port()))
          .value(),
      /*max_connections=*/2};
};

TEST_F(RedisFailoverTest, AWriteLeavesAServerThatIsAReplica) {
  proxy_.SwitchTo(new_master_.port());
  EXPECT_THAT(Call({"SET", "key", "new"}), IsOk());
  EXPECT_EQ(TextOf(*AskRedis(new_master_, {"GET", "key"})), "new");
}

TEST_F(RedisFailoverTest, AReplicaWithoutAMasterIsAnError) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(
        Call({"SET", "key", "new"}),
        StatusIs(absl::StatusCode::kUnavailable, HasSubstr("READONLY")));
  }
  // A replica still answers reads.
  EXPECT_THAT(Call({"GET", "key"}), IsOk());
}

}  // namespace
}  // namespace semrank
