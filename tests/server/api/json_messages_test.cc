#include "server/api/json_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "semrank/v1/ranking_service.pb.h"
#include "server/base/errors.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

absl::Status Parse(std::string_view json, std::string& bytes) {
  return JsonToBytes(json, *v1::RankRequest::descriptor(), bytes);
}

absl::Status Parse(std::string_view json) {
  std::string bytes;
  return Parse(json, bytes);
}

TEST(JsonMessagesTest, ABodyBecomesTheBytesOfItsMessage) {
  std::string bytes;
  ASSERT_THAT(Parse(R"({"query": "q", "titles": ["a", "b"], "ids": ["7", 8],
                        "topK": 3, "min_score": 0.5, "vectors": "AAAAAA==",
                        "model": {"name": "shop", "version": "2"}})",
                    bytes),
              IsOk());
  v1::RankRequest request;
  ASSERT_TRUE(request.ParseFromString(bytes));
  EXPECT_EQ(request.query(), "q");
  EXPECT_THAT(request.titles(), ::testing::ElementsAre("a", "b"));
  EXPECT_THAT(request.ids(), ::testing::ElementsAre(7, 8));
  EXPECT_EQ(request.top_k(), 3u);
  EXPECT_EQ(request.min_score(), 0.5f);
  EXPECT_EQ(request.vectors(), std::string(4, '\0'));
  EXPECT_EQ(request.model().version(), 2);
}

TEST(JsonMessagesTest, NestingIsBounded) {
  const auto nested = [](std::size_t depth) {  // within the outermost object
    return R"({"titles": )" + std::string(depth, '[') +
           std::string(depth, ']') + "}";
  };
  EXPECT_THAT(Parse(nested(kMaxBodyDepth - 1)), IsOk());
  for (const std::size_t depth : {kMaxBodyDepth, std::size_t{4'000'000}}) {
    const absl::Status status = Parse(nested(depth));
    EXPECT_EQ(ErrorReason(status), "MALFORMED_MESSAGE");
    EXPECT_EQ(ErrorValues(status)["limit"], std::to_string(kMaxBodyDepth));
  }
}

// Brackets in a string are text, in whatever quotes Protobuf's parser takes.
TEST(JsonMessagesTest, OnlyBracketsOutsideOfStringsNest) {
  const std::string brackets(100, '[');
  EXPECT_THAT(Parse("{\"query\": \"" + brackets + "\\\"" + brackets + "\"}"),
              IsOk());
  EXPECT_THAT(Parse("{\"query\": '" + brackets + "\"'}"), IsOk());
  const std::string deep(4'000'000, '[');
  EXPECT_EQ(ErrorReason(Parse("{\"query\": '\"', \"titles\": " + deep)),
            "MALFORMED_MESSAGE");
  EXPECT_EQ(ErrorReason(Parse("{\"query\": \"'\", \"titles\": " + deep)),
            "MALFORMED_MESSAGE");
}

TEST(JsonMessagesTest, AnErrorThatQuotesHalfACharacterIsStillJson) {
  const std::string json =
      StatusToJson(FieldError("REASON", "f\xC3", "is \xE2\x82"));
  EXPECT_TRUE(nlohmann::json::accept(json)) << json;
  EXPECT_THAT(json, ::testing::HasSubstr(R"(is \\xe2\\x82)"));
}

TEST(JsonMessagesTest, AFieldIsGivenOnceWhateverItsSpelling) {
  for (const char* json :
       {R"({"query": "a", "query": "a"})", R"({"query": "a", 'query': "b"})",
        R"({"query": "a", query: "b"})", R"({"top_k": 1, "topK": 1})",
        R"({"titles": ["a"], "titles": ["b"]})",
        R"({"model": {"name": "a"}, "model": {"version": 1}})",
        R"({"model": {"name": "a", "name": "b"}})"}) {
    const absl::Status status = Parse(json);
    EXPECT_EQ(ErrorReason(status), "MALFORMED_MESSAGE") << json;
    EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("repeats"));
  }
  // A string's escapes are fine, a name's would hide a repetition.
  EXPECT_THAT(Parse(R"({"query": "\": \", \"query", "titles": ["query:"]})"),
              IsOk());
  EXPECT_EQ(ErrorReason(Parse("{\"query\": \"a\", \"\\u0071uery\": \"b\"}")),
            "MALFORMED_MESSAGE");
}

TEST(JsonMessagesTest, AnUnknownValueOfAnEnumIsNamedWithTheKnownOnes) {
  EXPECT_THAT(std::string(Parse(R"({"parts": "both"})").message()),
              ::testing::EndsWith("; it may be PARTS_SEMANTIC, PARTS_LEXICAL"));
  EXPECT_THAT(std::string(Parse(R"({"top_k": "many"})").message()),
              ::testing::Not(::testing::HasSubstr("may be")));
}

TEST(JsonMessagesTest, WhatIsNoMessageIsMalformedWithTheReason) {
  for (const char* json :
       {"", "{", "[]", "7", R"({"querry": "q"})", R"({"titles": [{"a": 1}]})",
        R"({"top_k": "many"})", "{\"query\": \"\xff\"}"}) {
    EXPECT_EQ(ErrorReason(Parse(json)), "MALFORMED_MESSAGE") << json;
  }
  EXPECT_THAT(std::string(Parse(R"({"querry": "q"})").message()),
              ::testing::HasSubstr("querry"));
}

TEST(StatusToJsonTest, StatusesThatDifferInAValueAloneHaveTheirOwnBodies) {
  const auto overloaded = [](const char* limit) {
    return MakeError(absl::StatusCode::kResourceExhausted, "OVERLOADED", "full",
                     {{"limit", limit}});
  };
  const std::string one = StatusToJson(overloaded("1"));
  const std::string two = StatusToJson(overloaded("2"));
  EXPECT_THAT(one, ::testing::HasSubstr("\"limit\":\"1\""));
  EXPECT_THAT(two, ::testing::HasSubstr("\"limit\":\"2\""));
  EXPECT_EQ(StatusToJson(overloaded("2")), two);
}

}  // namespace
}  // namespace semrank
