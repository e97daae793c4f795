// A real redis-server that is killed, frozen, full and trimmed.
#include "server/events/redis_event_sink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "tests/support/event_lines.h"
#include "tests/support/redis_command.h"
#include "tests/support/redis_process.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class RedisEventSinkTest : public ::testing::Test {
 protected:
  RedisEventSink MakeSink(
      absl::Duration timeout = absl::Seconds(60),
      absl::Duration max_trim_time = absl::Seconds(60)) const {
    return RedisEventSink({.url = ParseRedisUrl(redis_.url()).value(),
                           .stream = "events",
                           .max_age = absl::Hours(1),
                           .max_bytes = 1 << 20,
                           .timeout = timeout,
                           .max_trim_time = max_trim_time});
  }
  // The records of the stream.
  std::vector<std::string> Records() const {
    RedisPool pool(ParseRedisUrl(redis_.url()).value(), 1);
    pool.LookUpAddress();
    const RedisCommand command = {"XRANGE", "events", "-", "+"};
    const auto replies = pool.Call(
        {&command, 1},
        std::chrono::steady_clock::now() + std::chrono::seconds(60),
        {.max_elements = 1'000'000, .max_bytes = std::size_t{1} << 30});
    EXPECT_THAT(replies, IsOk());
    std::vector<std::string> records;
    const redisReply& entries = *replies->front();
    for (std::size_t i = 0; i < entries.elements; ++i) {
      const redisReply& fields = *entries.element[i]->element[1];
      EXPECT_EQ(TextOf(*fields.element[0]), "record");
      records.emplace_back(TextOf(*fields.element[1]));
    }
    return records;
  }
  void Redis(const RedisCommand& command) { RunRedis(redis_, command); }
  // Adds entries of 1970.
  void AddOld(int num_entries) {
    Redis({"EVAL",
           "for i = 1, ARGV[1] do "
           "redis.call('XADD', 'events', i .. '-0', 'record', 'old') end",
           "0", std::to_string(num_entries)});
  }

  RedisProcess redis_;
};

TEST_F(RedisEventSinkTest, ARecordIsAnEntry) {
  RedisEventSink sink = MakeSink();
  EXPECT_EQ(sink.name(), redis_.url() + "/0/events");
  EXPECT_THAT(sink.Check(), IsOk());
  ASSERT_THAT(sink.Append(MakeLines("{\"a\":1}\n{\"b\":2}\n"), absl::Now()),
              IsOk());
  ASSERT_THAT(sink.Append(MakeLines("{\"c\":3}\n"), absl::Now()), IsOk());
  EXPECT_THAT(Records(), ElementsAre("{\"a\":1}", "{\"b\":2}", "{\"c\":3}"));
}

TEST_F(RedisEventSinkTest, ManyRecordsAreAppendedInTheirOrder) {
  RedisEventSink sink = MakeSink();
  std::string lines;
  std::vector<std::string> expected;
  for (int i = 0; i < 2'500; ++i) {
    expected.push_back(std::to_string(i));
    lines += expected.back() + "\n";
  }
  ASSERT_THAT(sink.Append(MakeLines(lines), absl::Now()), IsOk());
  EXPECT_EQ(Records(), expected);
}

TEST_F(RedisEventSinkTest, ARedisThatWasAwayIsUsedAgain) {
  RedisEventSink sink = MakeSink();
  ASSERT_THAT(sink.Append(MakeLines("1\n"), absl::Now()), IsOk());
  redis_.Kill();
  EXPECT_THAT(sink.Append(MakeLines("2\n"), absl::Now()),
              StatusIs(absl::StatusCode::kUnavailable,
                       AllOf(HasSubstr(redis_.url()),
                             HasSubstr("Connection refused"))));
  EXPECT_THAT(sink.RemoveOld(absl::Now()), IsOk());  // asks nothing
  redis_.StartAgain();
  ASSERT_THAT(sink.Append(MakeLines("3\n"), absl::Now()), IsOk());
  EXPECT_THAT(Records(), ElementsAre("3"));
}

TEST_F(RedisEventSinkTest, ARedisThatHangsIsLeftAfterTheTimeout) {
  RedisEventSink sink = MakeSink(absl::Milliseconds(50));
  redis_.Freeze();
  EXPECT_THAT(sink.Append(MakeLines("1\n"), absl::Now()),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  redis_.Thaw();
}

TEST_F(RedisEventSinkTest, AFullRedisAndAnotherKindOfKeyAreErrors) {
  RedisEventSink sink = MakeSink();
  Redis({"SET", "events", "text"});
  EXPECT_THAT(sink.Check(),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("WRONGTYPE")));
  Redis({"DEL", "events"});
  Redis({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_THAT(sink.Append(MakeLines("1\n"), absl::Now()),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST_F(RedisEventSinkTest, AFullRedisIsTrimmed) {
  RedisEventSink sink = MakeSink();
  AddOld(500);
  Redis({"CONFIG", "SET", "maxmemory", "1"});
  ASSERT_THAT(sink.Append(MakeLines("new\n"), absl::Now()),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(sink.RemoveOld(absl::Now()), IsOk());
  EXPECT_THAT(Records(), SizeIs(::testing::Le(100u)));
}

TEST_F(RedisEventSinkTest, TrimsByAgeOnceAMinute) {
  RedisEventSink sink = MakeSink();
  AddOld(500);
  const absl::Time now = absl::Now();
  ASSERT_THAT(sink.Append(MakeLines("new\n"), now), IsOk());
  ASSERT_THAT(sink.RemoveOld(now), IsOk());
  // Redis keeps the node whose last entry is new.
  EXPECT_THAT(Records(), SizeIs(::testing::Le(100u)));
  EXPECT_EQ(Records().back(), "new");
  EXPECT_GT(sink.num_bytes(), 0);
  Redis({"DEL", "events"});
  Redis({"XADD", "events", "1-0", "record", "old"});
  ASSERT_THAT(sink.RemoveOld(now + absl::Seconds(59)), IsOk());
  EXPECT_THAT(Records(), SizeIs(1));
}

TEST_F(RedisEventSinkTest, AWrongClockOfTheServerRemovesNothing) {
  RedisEventSink sink = MakeSink();
  const absl::Time now = absl::Now() + absl::Hours(24 * 400);
  ASSERT_THAT(sink.Append(MakeLines("1\n2\n"), now), IsOk());
  ASSERT_THAT(sink.RemoveOld(now), IsOk());
  EXPECT_THAT(Records(), ElementsAre("1", "2"));
}

// One XTRIM removes at most 10,000 entries.
TEST_F(RedisEventSinkTest, TrimsManyOldEntriesAtOnce) {
  RedisEventSink sink = MakeSink();
  AddOld(30'000);
  ASSERT_THAT(sink.RemoveOld(absl::Now()), IsOk());
  EXPECT_THAT(Records(), SizeIs(::testing::Le(100u)));
}

TEST_F(RedisEventSinkTest, ATrimThatTakesLongContinuesWithTheNextCall) {
  RedisEventSink sink = MakeSink(absl::Seconds(60), absl::ZeroDuration());
  AddOld(30'000);
  ASSERT_THAT(sink.RemoveOld(absl::Now()), IsOk());
  EXPECT_THAT(Records(), SizeIs(::testing::Gt(1'000u)));
  for (int i = 0; i < 3; ++i) EXPECT_THAT(sink.RemoveOld(absl::Now()), IsOk());
  EXPECT_THAT(Records(), SizeIs(::testing::Le(100u)));
}

TEST_F(RedisEventSinkTest, TrimsByMemory) {
  RedisEventSink sink = MakeSink();
  std::string lines;
  for (int i = 0; i < 4'000; ++i) lines += std::string(1'000, 'x') + "\n";
  ASSERT_THAT(sink.Append(MakeLines(lines), absl::Now()), IsOk());
  ASSERT_THAT(sink.RemoveOld(absl::Now()), IsOk());
  EXPECT_GT(sink.num_bytes(), 1 << 20);
  EXPECT_THAT(Records(),
              SizeIs(AllOf(::testing::Gt(500u), ::testing::Lt(1'200u))));
}

}  // namespace
}  // namespace semrank
