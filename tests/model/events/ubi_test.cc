#include "model/events/ubi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

std::vector<EventRecord> Parse(std::string_view json) {
  UbiParser parser;
  const absl::StatusOr<UbiRecords> records = parser.Parse(json);
  EXPECT_THAT(records, IsOk());
  return records.ok() ? records->records : std::vector<EventRecord>{};
}

// All members of the schema's query, which an application may send.
TEST(UbiTest, QueryIsAnImpression) {
  const auto records = Parse(R"({
      "application": "shop",
      "query_id": "00112233-4455-6677-8899-aabbccddeeff",
      "client_id": "5e3b2a1c-8b7d-4f2e-a3d4-c9b2e1f3a4b5",
      "user_query": "red shoe",
      "query_attributes": {"experiment_id": "12345"},
      "object_id_field": "sku",
      "timestamp": "2018-11-13T20:20:39+01:00",
      "query_response_id": "7",
      "query_response_hit_ids": ["B07XLFYN6S", 12]})");
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_EQ(std::get<Impression>(records[0]),
            (Impression{
                .id = "00112233-4455-6677-8899-aabbccddeeff",
                .time_ms = 1'542'136'839'000,
                .query = "red shoe",
                .user = "5e3b2a1c-8b7d-4f2e-a3d4-c9b2e1f3a4b5",
                .ranker = "shop",
                .results = {{.document = "B07XLFYN6S"}, {.document = "12"}}}));
}

// All members of the schema's event.
TEST(UbiTest, EventIsAnEvent) {
  const auto records = Parse(R"({
      "application": "shop", "action_name": "click_through", "query_id": "q1",
      "session_id": "s", "client_id": "c", "user_id": "u",
      "timestamp": "2018-11-13T20:20:39.250", "message_type": "INFO",
      "message": "clicked", "event_attributes": {
        "object": {"object_id": "B07XLFYN6S", "object_id_type": "product",
                   "object_id_field": "sku", "internal_id": "1"},
        "position": {"ordinal": 3}}})");
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_EQ(std::get<Event>(records[0]), (Event{.impression = "q1",
                                                .kind = "click",
                                                .position = 3,
                                                .document = "B07XLFYN6S",
                                                .time_ms = 1'542'140'439'250}));
}

TEST(UbiTest, ActionsBecomeKinds) {
  const auto records = Parse(R"([
      {"action_name": "purchase", "query_id": "q"},
      {"action_name": "Add to Cart", "query_id": "q",
       "event_attributes": {"position": {"ordinal": -1}}}])");
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_EQ(std::get<Event>(records[0]).kind, "conversion");
  EXPECT_EQ(std::get<Event>(records[1]).kind, "add_to_cart");
  EXPECT_EQ(std::get<Event>(records[1]).position, 0U);
}

TEST(UbiTest, ReadsExportsAndIgnoresWhatHasNoList) {
  UbiParser parser;
  ASSERT_OK_AND_ASSIGN(const UbiRecords records,
                       parser.Parse(R"([{"_index": "ubi_events", "_source":
                        {"action_name": "click", "query_id": "q"}},
                       {"action_name": "page_exit"}, {"user_query": "x"}])"));
  EXPECT_THAT(records.records, SizeIs(1));
  EXPECT_EQ(records.num_ignored, 2);
}

TEST(UbiTest, ErrorsNameTheRecord) {
  UbiParser parser;
  const auto error = [&parser](std::string_view json) {
    return std::string(parser.Parse(json).status().message());
  };
  EXPECT_THAT(error("{"), HasSubstr("not JSON"));
  EXPECT_THAT(error("{\"query_id\": \"\xff\"}"), HasSubstr("not JSON"));
  EXPECT_THAT(error("{}"), HasSubstr("neither action_name nor user_query"));
  EXPECT_THAT(error(R"({"action_name": "", "query_id": "q"})"),
              HasSubstr("empty action_name"));
  EXPECT_THAT(error(R"([{"user_query": "x"}, 7])"),
              HasSubstr("record 1 is not an object"));
  EXPECT_THAT(
      error(R"({"user_query": "x", "query_id": "q", "timestamp": "noon"})"),
      HasSubstr("ISO 8601"));
  for (const char* time : {"9223372036854775807", "\"infinite-future\""}) {
    EXPECT_THAT(
        error(absl::StrFormat(
            R"({"user_query": "x", "query_id": "q", "timestamp": %s})", time)),
        HasSubstr("years 0 to 9999"));
  }
  EXPECT_THAT(parser.Parse(std::string(100'000, '[')),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace semrank
