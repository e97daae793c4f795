// Impressions and events of JSON calls in a real redis-server.
#include "model/events/event_address.h"
#include "tests/server/api/json_api_fixture.h"
#include "tests/support/redis_command.h"
#include "tests/support/redis_process.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

struct EventRedis {
  RedisProcess redis;
  TempDir dir;
};

// Redis comes before the server that connects to it.
class JsonEventStreamTest : private EventRedis, public JsonApiTest {
 protected:
  JsonEventStreamTest() : JsonApiTest(WithEvents(redis, dir)) {
    FollowModels();
  }

  static ServerOptions WithEvents(const RedisProcess& redis,
                                  const TempDir& dir) {
    ServerOptions options = Options();
    options.events.destination =
        RedisEventSink::Options{.url = ParseRedisUrl(redis.url()).value(),
                                .stream = "events",
                                .timeout = absl::Seconds(60)};
    options.events.key_file = dir.Write("key", std::string(64, 'a'));
    return options;
  }
  std::string RankTitles() {
    return Ask("/v1/rank", Json{{"query", "shoe"},
                                {"titles", {"red shoe", "lamp"}},
                                {"impression", {{"user", "ann@example"}}}}
                               .dump())
        .value("impression_id", "");
  }
  HttpAnswer ReportClick(const std::string& id) {
    return Post(
        "/v1/events",
        Json{{"events",
              {{{"impression_id", id}, {"kind", "click"}, {"position", 1}}}}}
            .dump());
  }
  // The lines of the stream.
  std::string Stream() {
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::seconds(60);
    const auto connection = RedisConnection::Connect(
        ParseRedisUrl(redis.url()).value(), "127.0.0.1", deadline);
    const RedisCommand command = {"XRANGE", "events", "-", "+"};
    const auto replies = (*connection)->Call({&command, 1}, deadline);
    std::string lines;
    for (std::size_t i = 0; i < replies->front()->elements; ++i) {
      const redisReply& entry = *replies->front()->element[i];
      lines += TextOf(*entry.element[1]->element[1]);
      lines += '\n';
    }
    return lines;
  }
  using EventRedis::redis;
};

TEST_F(JsonEventStreamTest, AnAcknowledgedReportIsInTheStream) {
  const std::string id = RankTitles();
  ASSERT_THAT(id, SizeIs(22));
  EXPECT_EQ(ReportClick(id).status, 200);
  EXPECT_THAT(Stream(), AllOf(HasSubstr("\"query\":\"shoe\""),
                              HasSubstr("\"impression\":\"" + id + "\""),
                              ::testing::Not(HasSubstr("ann@example"))));
}

TEST_F(JsonEventStreamTest, WithoutRedisReportsFailAndRankingGoesOn) {
  redis.Kill();
  const std::string id = RankTitles();
  EXPECT_THAT(id, SizeIs(22));
  const HttpAnswer answer = ReportClick(id);
  EXPECT_EQ(answer.status, 503);
  EXPECT_THAT(answer.body,
              AllOf(HasSubstr("EVENTS_UNAVAILABLE"), HasSubstr(redis.url())));
  EXPECT_THAT(RankTitles(), SizeIs(22));
  redis.StartAgain();
  EXPECT_EQ(ReportClick(id).status, 200);
}

}  // namespace
}  // namespace semrank
