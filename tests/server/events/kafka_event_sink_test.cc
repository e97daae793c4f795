// The mock cluster of librdkafka, whose broker ends and comes back.
#include "server/events/kafka_event_sink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "tests/support/mock_kafka.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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
  ASSERT_THAT(sink->Append("{\"a\":1}\n{\"b\":2}\n", absl::Now()), IsOk());
  ASSERT_THAT(sink->Append("{\"c\":3}\n", absl::Now()), IsOk());
  EXPECT_THAT(Records(3), ElementsAre("{\"a\":1}", "{\"b\":2}", "{\"c\":3}"));
}

TEST_F(KafkaEventSinkTest, ABrokerThatWasAwayIsUsedAgain) {
  const auto sink = MakeSink(absl::Milliseconds(300));
  kafka_.Stop();
  EXPECT_THAT(sink->Append("1\n", absl::Now()),
              StatusIs(absl::StatusCode::kUnavailable,
                       AllOf(HasSubstr(sink->name()), HasSubstr("imed out"))));
  EXPECT_THAT(sink->Check(), StatusIs(absl::StatusCode::kUnavailable));
  kafka_.StartAgain();
  // It connects again after a time of its own.
  absl::Status status;
  for (int i = 0; i < 100; ++i) {
    status = sink->Append("2\n", absl::Now());
    if (status.ok()) break;
  }
  EXPECT_THAT(status, IsOk());
}

TEST_F(KafkaEventSinkTest, ARecordThatIsTooLargeIsDroppedAlone) {
  const TempDir dir;
  const auto sink = KafkaEventSink::Open(
      {.brokers = kafka_.brokers(),
       .topic = "events",
       .properties_file = dir.Write("kafka.conf", "message.max.bytes=1000"),
       .timeout = absl::Seconds(60)});
  ASSERT_THAT(sink, IsOk());
  const std::string lines = "1\n" + std::string(2'000, 'x') + "\n2\n";
  EXPECT_THAT((*sink)->Append(lines, absl::Now()), IsOk());
  EXPECT_THAT(Records(2), ElementsAre("1", "2"));
  EXPECT_EQ((*sink)->num_too_large(), 1);
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
