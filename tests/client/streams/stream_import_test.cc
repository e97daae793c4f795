// What servers keep in a real redis-server and in the mock cluster of
// librdkafka becomes a folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/streams/stream_records.h"
#include "model/events/event_files.h"
#include "server/events/kafka_event_sink.h"
#include "server/events/redis_event_sink.h"
#include "tests/support/event_folder.h"
#include "tests/support/event_lines.h"
#include "tests/support/mock_kafka.h"
#include "tests/support/redis_process.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class StreamImportTest : public ::testing::TestWithParam<EventAddress::Kind> {
 protected:
  StreamImportTest() {
    if (GetParam() == EventAddress::Kind::kRedis) {
      redis_ = std::make_unique<RedisProcess>();
      options_.stream.address =
          ParseEventAddress(redis_->url() + "/events").value();
      sink_ = std::make_unique<RedisEventSink>(
          RedisEventSink::Options{.url = ParseRedisUrl(redis_->url()).value(),
                                  .stream = "events",
                                  .timeout = absl::Seconds(60)});
    } else {
      kafka_ = std::make_unique<MockKafka>("events", 3);
      options_.stream.address =
          ParseEventAddress("kafka:" + kafka_->brokers() + "/events").value();
      sink_ = KafkaEventSink::Open({.brokers = kafka_->brokers(),
                                    .topic = "events",
                                    .timeout = absl::Seconds(60)})
                  .value();
    }
    options_.folder = dir_.File("events");
  }

  // Clicks at these times.
  void Append(const std::vector<std::int64_t>& times) {
    std::string lines;
    for (const std::int64_t time_ms : times) {
      AppendLine(
          Event{.impression = "list", .kind = "click", .time_ms = time_ms},
          lines);
    }
    ASSERT_THAT(sink_->Append(MakeLines(lines), absl::Now()), IsOk());
  }
  std::vector<std::int64_t> Times() const {
    std::vector<std::int64_t> times;
    for (const Event& event : RecordsOf<Event>(options_.folder)) {
      times.push_back(event.time_ms);
    }
    return times;
  }
  std::unique_ptr<EventStream> Open() const {
    return OpenEventStream(options_.stream).value();
  }
  StreamedRecords Import() {
    const auto imported = ImportStream(options_);
    EXPECT_THAT(imported, IsOk());
    return imported.ok() ? *imported : StreamedRecords();
  }

  TempDir dir_;
  std::unique_ptr<RedisProcess> redis_;
  std::unique_ptr<MockKafka> kafka_;
  std::unique_ptr<EventSink> sink_;
  StreamImportOptions options_;
};

TEST_P(StreamImportTest, RecordsAreInOrderOfTime) {
  Append({3, 1, 2});
  const StreamedRecords imported = Import();
  EXPECT_EQ(imported.events, 3);
  EXPECT_EQ(imported.files, 1);
  EXPECT_THAT(Times(), ElementsAre(1, 2, 3));
}

TEST_P(StreamImportTest, TheNextImportHasWhatFollows) {
  Append({1, 2});
  Import();
  EXPECT_EQ(Import().files, 0);
  // Its first record has the time of an earlier one.
  Append({1, 5});
  EXPECT_EQ(Import().events, 2);
  EXPECT_THAT(Times(), ElementsAre(1, 2, 1, 5));
}

TEST_P(StreamImportTest, FilesHaveTheOrderOfTheirImportsWhateverTheClocksSay) {
  Append({5});
  Import();
  Append({1});
  Import();
  EXPECT_THAT(Times(), ElementsAre(5, 1));
}

TEST_P(StreamImportTest, WhatIsAddedMeanwhileIsForTheNextImport) {
  Append({1, 2});
  const auto stream = Open();
  ASSERT_THAT(stream->Begin(""), IsOk());
  int num_lines = 0;
  std::string line;
  // Without an end there would be one more with each.
  while (num_lines < 10 && stream->Next(line).value()) {
    ++num_lines;
    Append({3});
  }
  EXPECT_EQ(num_lines, 2);

  const auto next = Open();
  ASSERT_THAT(next->Begin(stream->position()), IsOk());
  while (num_lines < 10 && next->Next(line).value()) ++num_lines;
  EXPECT_EQ(num_lines, 4);
}

TEST_P(StreamImportTest, MuchBecomesSeveralFiles) {
  std::vector<std::int64_t> times(5'000);
  for (std::size_t i = 0; i < times.size(); ++i) {
    times[i] = static_cast<std::int64_t>(i) + 1;
  }
  Append(times);
  options_.max_bytes = 100'000;
  EXPECT_GT(Import().files, 1);
  EXPECT_THAT(Times(), SizeIs(5'000));
  EXPECT_EQ(Import().files, 0);
}

TEST_P(StreamImportTest, FilesAreRemovedAfterTheirAge) {
  Append({1});
  Import();
  const std::string old_file =
      options_.folder + "/" +
      EventFileName(absl::ToUnixMillis(absl::Now() - absl::Hours(3)), 1);
  std::filesystem::copy_file(ListEventFiles(options_.folder)->front(),
                             old_file);
  EXPECT_EQ(Import().removed_files, 0);
  options_.max_age = absl::Hours(2);
  EXPECT_EQ(Import().removed_files, 1);
  EXPECT_FALSE(std::filesystem::exists(old_file));
  EXPECT_THAT(Times(), ElementsAre(1));
}

TEST_P(StreamImportTest, RecordsOfOthersAreBadLines) {
  ASSERT_THAT(sink_->Append(MakeLines("text\n"), absl::Now()), IsOk());
  Append({1});
  EXPECT_EQ(Import().bad_lines, 1);
  EXPECT_THAT(Times(), ElementsAre(1));
  ASSERT_THAT(sink_->Append(MakeLines("text\n"), absl::Now()), IsOk());
  options_.max_bad_lines = 0;
  EXPECT_THAT(ImportStream(options_),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("/events:1: the line is not a JSON object")));
}

TEST_P(StreamImportTest, WhatIsNoPositionIsRefused) {
  for (const std::string position : {"none", "5", "0:-1", "7-x", "-"}) {
    EXPECT_THAT(
        Open()->Begin(position),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(position)));
  }
  dir_.Write("positions", Open()->name() + " none\n");
  options_.folder = dir_.path();
  EXPECT_THAT(ImportStream(options_),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr(dir_.File("positions: \"none\""))));
}

INSTANTIATE_TEST_SUITE_P(All, StreamImportTest,
                         ::testing::Values(EventAddress::Kind::kRedis,
                                           EventAddress::Kind::kKafka),
                         [](const auto& test) {
                           return test.param == EventAddress::Kind::kRedis
                                      ? "Redis"
                                      : "Kafka";
                         });

class KafkaImportTest : public ::testing::Test {
 protected:
  KafkaImportTest() {
    options_.folder = dir_.path();
    std::string lines;
    AppendLine(Event{.impression = "list", .kind = "click", .time_ms = 1},
               lines);
    const auto sink = KafkaEventSink::Open({.brokers = kafka_.brokers(),
                                            .topic = "events",
                                            .timeout = absl::Seconds(60)})
                          .value();
    EXPECT_THAT(sink->Append(MakeLines(lines), absl::Now()), IsOk());
  }
  absl::StatusOr<StreamedRecords> Import(const std::string& brokers) {
    options_.stream.address =
        ParseEventAddress("kafka:" + brokers + "/events").value();
    return ImportStream(options_);
  }

  const TempDir dir_;
  MockKafka kafka_{"events"};
  StreamImportOptions options_;
};

TEST_F(KafkaImportTest, BlanksBetweenBrokersBelongToTheNameOfTheStream) {
  const std::string brokers = kafka_.brokers() + ", " + kafka_.brokers();
  EXPECT_EQ(Import(brokers)->events, 1);
  EXPECT_EQ(Import(brokers)->events, 0);
}

TEST_F(KafkaImportTest, NoRightToAGroupIsNeeded) {
  kafka_.RefuseGroups();
  const auto imported = Import(kafka_.brokers());
  ASSERT_THAT(imported, IsOk());
  EXPECT_EQ(imported->events, 1);
}

// Its messages will have offsets below that of the old topic.
TEST(KafkaPositionTest, ATopicThatWasCreatedAgainIsReadFromItsBeginning) {
  MockKafka kafka("events");
  EventStream::Options options;
  options.address =
      ParseEventAddress("kafka:" + kafka.brokers() + "/events").value();
  const auto stream = OpenEventStream(options).value();
  ASSERT_THAT(stream->Begin("0:5"), IsOk());
  std::string line;
  EXPECT_FALSE(stream->Next(line).value());
  EXPECT_EQ(stream->position(), "");
}

TEST(StreamImportErrorTest, AStreamThatIsAwayIsNamed) {
  const TempDir dir;
  StreamImportOptions options;
  options.folder = dir.path();
  options.stream.address =
      ParseEventAddress("redis://127.0.0.1:1/events").value();
  EXPECT_THAT(ImportStream(options),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr("redis://127.0.0.1:1")));
}

}  // namespace
}  // namespace semrank
