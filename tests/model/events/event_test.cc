#include "model/events/event.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <variant>

#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

Impression FullImpression() {
  return {
      .id = "AAECAwQFBgcICQoLDA0ODw",
      .time_ms = 1'764'130'882'123,
      .query = "r\"ote\nSchuhe 红",
      .query_hash = "h1",
      .session = "s1",
      .user = "u1",
      .ranker = "shop/3",
      .ranker_a = "shop/3",
      .ranker_b = "shop2/1",
      .swapped_first = 1,
      .swapped_second = 2,
      .results = {{.document = "7", .title = "red", .score = .5, .team = 'a'},
                  {.title = "shoes", .score = -.25, .team = 'b'}}};
}

TEST(EventTest, AnImpressionReadsBackAsItWasWritten) {
  std::string line;
  AppendLine(FullImpression(), line);
  EventParser parser;
  const auto record = parser.Parse(line);
  ASSERT_TRUE(record.ok()) << record.status();
  EXPECT_EQ(std::get<Impression>(*record), FullImpression());
}

TEST(EventTest, AnEventReadsBackAsItWasWritten) {
  const Event event = {.id = "e1",
                       .impression = "i1",
                       .kind = "click",
                       .position = 3,
                       .document = "doc",
                       .time_ms = -5,
                       .value = 12.75};
  std::string line;
  AppendLine(event, line);
  EventParser parser;
  const auto record = parser.Parse(line);
  ASSERT_TRUE(record.ok()) << record.status();
  EXPECT_EQ(std::get<Event>(*record), event);
}

TEST(EventTest, OneLineHasOneNewlineAndNoDefaultValues) {
  std::string lines;
  AppendLine(Event{.impression = "i", .kind = "click", .position = 1}, lines);
  AppendLine(Impression{.id = "i", .query = "a\nb"}, lines);
  EXPECT_EQ(lines,
            "{\"type\":\"event\",\"impression\":\"i\",\"kind\":\"click\","
            "\"position\":1}\n"
            "{\"type\":\"impression\",\"id\":\"i\",\"query\":\"a\\nb\","
            "\"results\":[]}\n");
}

TEST(EventTest, NumbersThatJsonLacksAreLeftOut) {
  std::string line;
  AppendLine(Event{.impression = "i",
                   .kind = "click",
                   .value = std::numeric_limits<double>::quiet_NaN()},
             line);
  EXPECT_TRUE(EventParser().Parse(line).ok()) << line;
}

TEST(EventTest, MembersOfLaterReleasesAreSkipped) {
  EventParser parser;
  EXPECT_TRUE(parser
                  .Parse(R"({"type":"event","impression":"i","kind":"k",)"
                         R"("new":{"deep":[1]}})")
                  .ok());
}

TEST(EventTest, WhatIsWrongIsNamed) {
  struct Case {
    std::string line;
    std::string problem;
  };
  const Case cases[] = {
      {"", "not a JSON object"},
      {"[]", "not a JSON object"},
      {R"({"type":"event")", "not a JSON object"},
      {R"({"type":"event"} {})", "not a JSON object"},
      {R"({"id":"i"})", "\"type\" is missing"},
      {R"({"type":"visit"})", "neither impression nor event"},
      {R"({"type":"event","kind":"click"})", "\"impression\" is missing"},
      {R"({"type":"event","impression":"i"})", "\"kind\" is missing"},
      {R"({"type":"event","impression":7,"kind":"k"})", "is not a string"},
      {R"({"type":"event","impression":"i","kind":"k","position":-1})",
       "is not a position"},
      {R"({"type":"event","impression":"i","kind":"k","position":4294967296})",
       "is not a position"},
      {R"({"type":"event","impression":"i","kind":"k","time":253402300800000})",
       "is not within the years 0 to 9999"},
      {R"({"type":"impression","id":"i","time":-9223372036854775808})",
       "is not within the years 0 to 9999"},
      {R"({"type":"impression"})", "\"id\" is missing"},
      {R"({"type":"impression","id":"i","results":{}})", "is not an array"},
      {R"({"type":"impression","id":"i","results":[1]})", "is not an object"},
      {R"({"type":"impression","id":"i","results":[{"team":"c"}]})",
       "is neither a nor b"},
      {R"({"type":"impression","id":"i","swapped":[2,1]})",
       "is not a pair of positions"},
      {R"({"type":"impression","id":"i","swapped":[0,1]})",
       "is not a pair of positions"},
      {R"({"type":"impression","id":"i","models":[]})", "is not an object"},
  };
  EventParser parser;
  for (const Case& c : cases) {
    const auto record = parser.Parse(c.line);
    ASSERT_FALSE(record.ok()) << c.line;
    EXPECT_THAT(std::string(record.status().message()), HasSubstr(c.problem));
  }
}

TEST(EventTest, AListOverTheLimitIsRefused) {
  Impression impression = {.id = "i"};
  impression.results.resize(kMaxShownResults);
  std::string line;
  AppendLine(impression, line);
  EventParser parser;
  EXPECT_TRUE(parser.Parse(line).ok());
  impression.results.emplace_back();
  line.clear();
  AppendLine(impression, line);
  EXPECT_FALSE(parser.Parse(line).ok());
}

}  // namespace
}  // namespace semrank
