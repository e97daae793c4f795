// The mock cluster of librdkafka, whose broker ends and comes back.
#include "server/events/kafka_event_sink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "tests/support/event_lines.h"
#include "tests/support/mock_kafka.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class KafkaEventSinkTest : public ::testing::Test {
 protected:
  std::unique_ptr<KafkaEventSink> MakeSink(
      absl::Duration timeout = absl::Seconds(60)) const {
    return KafkaEventSink::Open({.brokers = kafka_.brokers(),
                                 .topic = "events",
                                 .timeout = timeout})
        .value();
  }
  // The first messages of the topic, in order.
  std::vector<std::string> Records(std::size_t count) const {
    const auto client = KafkaClient::Create(
        RD_KAFKA_CONSUMER, {.brokers = kafka_.brokers(), .topic = "events"});
    rd_kafka_topic_t* const topic =
        rd_kafka_topic_new((*client)->get(), "events", nullptr);
    rd_kafka_consume_start(topic, 0, RD_KAFKA_OFFSET_BEGINNING);
    std::vector<std::string> records;
    while (records.size() < count) {
      rd_kafka_message_t* const message =
          rd_kafka_consume(topic, 0, /*timeout_ms=*/60'000);
      if (message == nullptr) break;
      if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        records.emplace_back(static_cast<const char*>(message->payload),
                             message->len);
      }
      rd_kafka_message_destroy(message);
    }
    rd_kafka_consume_stop(topic, 0);
    rd_kafka_topic_destroy(topic);
    return records;
  }

  MockKafka kafka_{"events"};
};

TEST_F(KafkaEventSinkTest, ARecordIsAMessage) {
  const auto sink = MakeSink();
  EXPECT_EQ(sink->name(), "kafka:" + kafka_.brokers() + "/events");
  EXPECT_THAT(sink->Check(), IsOk());
  ASSERT_THAT(sink->Append(MakeLines("{\"a\":1}\n{\"b\":2}\n"), absl::Now()),
              IsOk());
  ASSERT_THAT(sink->Append(MakeLines("{\"c\":3}\n"), absl::Now()), IsOk());
  EXPECT_THAT(Records(3), ElementsAre("{\"a\":1}", "{\"b\":2}", "{\"c\":3}"));
}

TEST_F(KafkaEventSinkTest, ABrokerThatWasAwayIsUsedAgain) {
  const auto sink = MakeSink(absl::Milliseconds(300));
  kafka_.Stop();
  EXPECT_THAT(sink->Append(MakeLines("1\n"), absl::Now()),
              StatusIs(absl::StatusCode::kUnavailable,
                       AllOf(HasSubstr(sink->name()), HasSubstr("imed out"))));
  EXPECT_THAT(sink->Check(), StatusIs(absl::StatusCode::kUnavailable));
  kafka_.StartAgain();
  // It connects again after a time of its own.
  absl::Status status;
  for (int i = 0; i < 100; ++i) {
    status = sink->Append(MakeLines("2\n"), absl::Now());
    if (status.ok()) break;
  }
  EXPECT_THAT(status, IsOk());
}

TEST_F(KafkaEventSinkTest, ALineOfTheLargestSizeFits) {
  const TempDir dir;
  const auto sink = KafkaEventSink::Open(
      {.brokers = kafka_.brokers(),
       .topic = "events",
       .properties_file = dir.Write("kafka.conf", "message.max.bytes=1000"),
       .timeout = absl::Seconds(60)});
  ASSERT_THAT(sink, IsOk());
  const std::string largest((*sink)->max_line_bytes() - 1, 'x');
  const std::string longest_id(128, 'i');
  EventLines lines;
  lines.Add(largest + "\n", longest_id);
  EXPECT_THAT((*sink)->Append(lines, absl::Now()), IsOk());
  EXPECT_THAT(Records(1), ElementsAre(largest));
  EXPECT_THAT(
      (*sink)->Append(MakeLines(std::string(2'000, 'x') + "\n"), absl::Now()),
      StatusIs(absl::StatusCode::kUnavailable));
}

// The partitions in which each key is found.
std::map<std::string, std::set<int>> PartitionsOfKeys(const MockKafka& kafka,
                                                      int num_partitions) {
  std::map<std::string, std::set<int>> partitions;
  const auto client = KafkaClient::Create(
      RD_KAFKA_CONSUMER, {.brokers = kafka.brokers(),
                          .topic = "events",
                          .properties = {{"enable.partition.eof", "true"}}});
  rd_kafka_topic_t* const topic =
      rd_kafka_topic_new((*client)->get(), "events", nullptr);
  for (int partition = 0; partition < num_partitions; ++partition) {
    rd_kafka_consume_start(topic, partition, RD_KAFKA_OFFSET_BEGINNING);
    bool has_ended = false;
    while (!has_ended) {
      rd_kafka_message_t* const message =
          rd_kafka_consume(topic, partition, /*timeout_ms=*/60'000);
      if (message == nullptr) break;
      has_ended = message->err != RD_KAFKA_RESP_ERR_NO_ERROR;
      if (!has_ended) {
        partitions[std::string(static_cast<const char*>(message->key),
                               message->key_len)]
            .insert(partition);
      }
      rd_kafka_message_destroy(message);
    }
    rd_kafka_consume_stop(topic, partition);
  }
  rd_kafka_topic_destroy(topic);
  return partitions;
}

TEST(KafkaEventSinkKeyTest, AListAndItsClicksAreInOnePartition) {
  constexpr int kNumPartitions = 4;
  const MockKafka kafka("events", kNumPartitions);
  const auto sink = KafkaEventSink::Open({.brokers = kafka.brokers(),
                                          .topic = "events",
                                          .timeout = absl::Seconds(60)})
                        .value();
  for (int round = 0; round < 3; ++round) {
    std::vector<std::string> ids;
    for (int i = 0; i < 20; ++i) ids.push_back("list-" + std::to_string(i));
    EventLines lines;
    for (const std::string& id : ids) lines.Add("record\n", id);
    ASSERT_THAT(sink->Append(lines, absl::Now()), IsOk());
  }
  const auto partitions = PartitionsOfKeys(kafka, kNumPartitions);
  EXPECT_THAT(partitions, SizeIs(20));
  std::set<int> used;
  for (const auto& [key, places] : partitions) {
    EXPECT_THAT(places, SizeIs(1)) << key;
    used.insert(places.begin(), places.end());
  }
  EXPECT_GT(used.size(), 1U);
}

TEST(KafkaEventSinkOptionsTest, AFileThatIsMissingIsNamed) {
  EXPECT_THAT(
      KafkaEventSink::Open({.brokers = "h",
                            .topic = "t",
                            .properties_file = "/none/kafka.conf"}),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("/none/kafka.conf")));
}

}  // namespace
}  // namespace semrank
