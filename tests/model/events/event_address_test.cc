#include "model/events/event_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Kind = EventAddress::Kind;

void ExpectAddress(std::string_view text, Kind kind, std::string_view place,
                   std::string_view stream) {
  const auto address = ParseEventAddress(text);
  ASSERT_THAT(address, IsOk()) << text;
  EXPECT_EQ(address->kind, kind) << text;
  EXPECT_EQ(address->place, place) << text;
  EXPECT_EQ(address->stream, stream) << text;
}

TEST(EventAddressTest, HasAPlaceAndAStream) {
  ExpectAddress("/var/events", Kind::kFolder, "/var/events", "");
  ExpectAddress("", Kind::kFolder, "", "");
  ExpectAddress("redis://h/shop:events", Kind::kRedis, "redis://h",
                "shop:events");
  ExpectAddress("rediss://u:a/b@h:1/2/e", Kind::kRedis, "rediss://u:a/b@h:1/2",
                "e");
  ExpectAddress("kafka:a:9092,b/shop.events", Kind::kKafka, "a:9092,b",
                "shop.events");
}

TEST(EventAddressTest, AStreamIsNoFolder) {
  EXPECT_EQ(ParseStreamAddress("redis://h/e")->stream, "e");
  for (const char* const text : {"/var/events", "", "s3://bucket/x"}) {
    EXPECT_THAT(ParseStreamAddress(text),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr(std::string(kStreamAddressForms))))
        << text;
  }
}

class BadEventAddressTest : public ::testing::TestWithParam<const char*> {};

TEST_P(BadEventAddressTest, IsRefusedWithoutItsPassword) {
  EXPECT_THAT(
      ParseEventAddress(GetParam()),
      StatusIs(absl::StatusCode::kInvalidArgument, Not(HasSubstr("secret"))));
}

INSTANTIATE_TEST_SUITE_P(All, BadEventAddressTest,
                         ::testing::Values("redis://h", "redis://h/",
                                           "redis://h/3", "redis://h/a b",
                                           "redis://u:secret/e@h", "kafka:h",
                                           "kafka:/topic", "kafka:h/a/b",
                                           "kafka://h/topic", "amqp://h/x",
                                           "s3://bucket/x"));

}  // namespace
}  // namespace semrank
