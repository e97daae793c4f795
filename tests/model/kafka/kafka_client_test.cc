#include "model/kafka/kafka_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/mock_kafka.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

TEST(KafkaClientTest, PropertiesAreReadFromAFile) {
  const TempDir dir;
  dir.Write("conf",
            "# of the cluster\n\n security.protocol = sasl_ssl \n"
            "sasl.password=a=b\n");
  const auto properties = ReadKafkaProperties(dir.File("conf"));
  ASSERT_THAT(properties, IsOk());
  EXPECT_THAT(*properties, ElementsAre(Pair("security.protocol", "sasl_ssl"),
                                       Pair("sasl.password", "a=b")));
  dir.Write("conf", "acks=all\nacks\n");
  EXPECT_THAT(ReadKafkaProperties(dir.File("conf")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("conf:2: must be name=value")));
  EXPECT_THAT(ReadKafkaProperties(dir.File("none")),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST(KafkaClientTest, ARefusedPropertyIsNamedWithoutItsValue) {
  const auto client = KafkaClient::Create(
      RD_KAFKA_PRODUCER, {.brokers = "127.0.0.1:1",
                          .topic = "events",
                          .properties = {{"security.protocol", "secret"}}});
  EXPECT_THAT(client, StatusIs(absl::StatusCode::kInvalidArgument,
                               AllOf(HasSubstr("security.protocol"),
                                     Not(HasSubstr("secret")))));
}

TEST(KafkaClientTest, FindsThePartitionsOfATopic) {
  const MockKafka kafka("events", 3);
  const auto client = KafkaClient::Create(
      RD_KAFKA_CONSUMER, {.brokers = kafka.brokers(), .topic = "events"});
  ASSERT_THAT(client, IsOk());
  EXPECT_EQ((*client)->name(), "kafka:" + kafka.brokers() + "/events");
  const auto partitions = (*client)->FindPartitions(absl::Seconds(60));
  ASSERT_THAT(partitions, IsOk());
  EXPECT_THAT(*partitions, ElementsAre(0, 1, 2));
}

// The mock cluster knows no SASL, and closes the connection.
TEST(KafkaClientTest, ALoginThatIsRefusedIsPermissionDenied) {
  const MockKafka kafka("events");
  const auto client = KafkaClient::Create(
      RD_KAFKA_PRODUCER,
      {.brokers = kafka.brokers(),
       .topic = "events",
       .properties = {{"security.protocol", "sasl_plaintext"},
                      {"sasl.mechanisms", "PLAIN"},
                      {"sasl.username", "me"},
                      {"sasl.password", "hush"}}});
  ASSERT_THAT(client, IsOk());
  EXPECT_THAT((*client)->FindPartitions(absl::Seconds(2)),
              StatusIs(absl::StatusCode::kPermissionDenied));
}

TEST(KafkaClientTest, AClusterThatIsAwayIsNamed) {
  const auto client = KafkaClient::Create(
      RD_KAFKA_PRODUCER, {.brokers = "127.0.0.1:1", .topic = "events"});
  ASSERT_THAT(client, IsOk());
  EXPECT_THAT((*client)->FindPartitions(absl::Seconds(3)),
              StatusIs(absl::StatusCode::kUnavailable,
                       AllOf(HasSubstr("kafka:127.0.0.1:1/events"),
                             HasSubstr("Connection refused"))));
}

}  // namespace
}  // namespace semrank
