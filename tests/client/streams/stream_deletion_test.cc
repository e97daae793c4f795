#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/time/clock.h"
#include "client/streams/stream_records.h"
#include "server/events/kafka_event_sink.h"
#include "server/events/redis_event_sink.h"
#include "tests/support/event_folder.h"
#include "tests/support/event_lines.h"
#include "tests/support/mock_kafka.h"
#include "tests/support/redis_command.h"
#include "tests/support/redis_process.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;

void AppendList(const std::string& id, const std::string& user_hash,
                std::string& lines) {
  AppendLine(Impression{.id = id, .time_ms = 1, .user = user_hash}, lines);
}
void AppendClick(const std::string& list, std::string& lines) {
  AppendLine(Event{.impression = list, .kind = "click", .time_ms = 1}, lines);
}

class StreamDeletionTest : public ::testing::Test {
 protected:
  void Append(const std::string& lines) {
    RedisEventSink sink({.url = ParseRedisUrl(redis_.url()).value(),
                         .stream = "events",
                         .timeout = absl::Seconds(60)});
    ASSERT_THAT(sink.Append(MakeLines(lines), absl::Now()), IsOk());
  }
  absl::StatusOr<DeletedRecords> Delete(const std::string& user_hash) const {
    return DeleteUserOfStream(stream_, user_hash, BadLineLimit(0));
  }
  // The ids of the lists of all records that are left.
  std::vector<std::string> ListsOfRecords() const {
    const TempDir dir;
    EXPECT_THAT(ImportStream({.stream = stream_, .folder = dir.path()}),
                IsOk());
    std::vector<std::string> lists;
    for (const EventRecord& record : RecordsOf(dir.path())) {
      const auto* event = std::get_if<Event>(&record);
      lists.push_back(event != nullptr ? event->impression
                                       : std::get<Impression>(record).id);
    }
    return lists;
  }

  std::vector<std::string> EntryIds() const {
    std::vector<std::string> ids;
    const RedisReply entries = AskRedis(redis_, {"XRANGE", "events", "-", "+"});
    for (std::size_t i = 0; i < entries->elements; ++i) {
      ids.emplace_back(TextOf(*entries->element[i]->element[0]));
    }
    return ids;
  }
  // The first entry of each XDEL, in order. The log of slow commands begins
  // with the last one; element 3 of a command is its name and its arguments.
  std::vector<std::string> DeletedIds() const {
    std::vector<std::string> ids;
    const RedisReply log = AskRedis(redis_, {"SLOWLOG", "GET", "-1"});
    for (std::size_t i = log->elements; i-- > 0;) {
      const redisReply& words = *log->element[i]->element[3];
      if (TextOf(*words.element[0]) != "XDEL") continue;
      ids.emplace_back(TextOf(*words.element[2]));
    }
    return ids;
  }

  RedisProcess redis_;
  EventStream::Options stream_ = {
      .address = ParseStreamAddress(redis_.url() + "/events").value()};
};

TEST_F(StreamDeletionTest, ListsOfTheUserAndTheirEventsGo) {
  std::string lines;
  AppendClick("1", lines);  // precedes its list
  AppendList("1", "ann", lines);
  AppendList("2", "bob", lines);
  AppendClick("2", lines);
  AppendClick("1", lines);
  Append(lines);
  const auto deleted = Delete("ann");
  ASSERT_THAT(deleted, IsOk());
  EXPECT_EQ(deleted->impressions, 1);
  EXPECT_EQ(deleted->events, 2);
  EXPECT_THAT(ListsOfRecords(), ElementsAre("2", "2"));
  EXPECT_EQ(Delete("ann")->impressions, 0);
}

TEST_F(StreamDeletionTest, ManyRecordsGoInSeveralCalls) {
  std::string lines;
  AppendList("1", "ann", lines);
  for (int i = 0; i < 2'500; ++i) AppendClick("1", lines);
  AppendList("2", "bob", lines);
  Append(lines);
  EXPECT_EQ(Delete("ann")->events, 2'500);
  EXPECT_THAT(ListsOfRecords(), ElementsAre("2"));
}

TEST_F(StreamDeletionTest, AnEntryThatCannotBeReadEndsIt) {
  std::string lines;
  AppendList("1", "ann", lines);
  Append(lines + "text\n");
  EXPECT_THAT(Delete("ann"), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ListsOfRecords(), ElementsAre("1"));
}

// An interrupted call that is repeated finds events by their list.
TEST_F(StreamDeletionTest, AListIsDeletedAfterItsEvents) {
  std::string lines;
  AppendList("1", "ann", lines);
  AppendClick("1", lines);
  Append(lines);
  RunRedis(redis_, {"CONFIG", "SET", "slowlog-log-slower-than", "0"});
  const std::vector<std::string> ids = EntryIds();
  ASSERT_THAT(Delete("ann"), IsOk());
  EXPECT_THAT(DeletedIds(), ElementsAre(ids[1], ids[0]));
}

TEST(KafkaDeletionTest, KafkaDeletesNoRecord) {
  const MockKafka kafka("events");
  const auto sink = KafkaEventSink::Open({.brokers = kafka.brokers(),
                                          .topic = "events",
                                          .timeout = absl::Seconds(60)})
                        .value();
  std::string lines;
  AppendList("1", "ann", lines);
  ASSERT_THAT(sink->Append(MakeLines(lines), absl::Now()), IsOk());
  const EventStream::Options stream = {
      .address =
          ParseStreamAddress("kafka:" + kafka.brokers() + "/events").value()};
  EXPECT_THAT(DeleteUserOfStream(stream, "ann", BadLineLimit(0)),
              StatusIs(absl::StatusCode::kUnimplemented));
}

}  // namespace
}  // namespace semrank
