#include "server/http/json_text_count.h"

#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "server/base/errors.h"
#include "server/http/json_messages.h"
#include "tests/server/requests/text_count_cases.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

// Counts a body, and keeps what was counted.
class JsonCount {
 public:
  explicit JsonCount(std::string_view json,
                     const MessageTexts& texts = kRankTexts)
      : status_(CountJsonTexts(json, texts, count_, held_)) {}
  const TextCount& operator*() const { return count_; }
  const TextCount* operator->() const { return &count_; }
  const absl::Status& status() const { return status_; }

 private:
  TextCount count_;
  std::deque<std::string> held_;
  absl::Status status_;
};

struct ItemsCase {
  std::string_view name, json;
  std::int64_t want;
};

class JsonItemsTest : public ::testing::TestWithParam<ItemsCase> {};

TEST_P(JsonItemsTest, CountsTheListsOfTheOutermostObject) {
  EXPECT_EQ(JsonCount(GetParam().json)->num_items, GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, JsonItemsTest,
    ::testing::ValuesIn<ItemsCase>({
        {"Whole", R"({"query": "q", "titles": ["a", "b"], "top_k": 9})", 2},
        {"Numbers", R"({"ids": [1, "2", 3.0]})", 3},
        {"OtherFields", R"({"texts": ["a"], "model": {"titles": "x"}})", 0},
        {"Escaped", R"({"\u0074itles": ["a"]})", 1},
        {"BothSpellings", R"({"document_ids": ["a"], "documentIds": ["b"]})",
         2},
        {"Twice", R"({"titles": ["a"], "titles": ["b"]})", 2},
        {"Deep", R"({"titles": [["a"], [["b", "c"], []]]})", 3},
        {"Cut", R"({"titles": ["a", "b", "c)", 2},
        {"NoObject", R"(["a", "b"])", 0},
        {"Null", R"({"titles": null})", 0},
        {"Nothing", "", 0},
    }),
    [](const auto& test) { return std::string(test.param.name); });

TEST(JsonTextCountTest, HostileNestingEndsInTheCount) {
  const JsonCount count("{\"titles\":" + std::string(1'000'000, '['));
  EXPECT_EQ(count->num_items, 0);
  EXPECT_EQ(ErrorReason(count.status()), "MALFORMED_MESSAGE");
}

TEST(JsonTextCountTest, NestingIsBounded) {
  const auto nested = [](int depth) {  // within the outermost object
    return R"({"titles": )" + std::string(depth, '[') +
           std::string(depth, ']') + "}";
  };
  EXPECT_TRUE(JsonCount(nested(kMaxJsonDepth - 1)).status().ok());
  for (const int depth : {kMaxJsonDepth, 4'000'000}) {
    const absl::Status status = JsonCount(nested(depth)).status();
    EXPECT_EQ(ErrorReason(status), "MALFORMED_MESSAGE");
    EXPECT_EQ(ErrorValues(status)["limit"], std::to_string(kMaxJsonDepth));
  }
}

// Protobuf's parser would take these, but the count ends there.
TEST(JsonTextCountTest, WhatIsNotQuiteJsonIsMalformed) {
  for (const char* json : {R"({titles: ["a"]})", R"({'titles': ["a"]})",
                           R"({"titles": ["a",]})", "{\"query\": \"\xff\"}"}) {
    EXPECT_EQ(ErrorReason(JsonCount(json).status()), "MALFORMED_MESSAGE")
        << json;
  }
}

TEST(JsonTextCountTest, VectorsAreCountedInAnyBase64) {
  for (const char* text : {"AAAAAA==", "AAAAAA", "+/-_AA"}) {
    const JsonCount count("{\"vectors\": \"" + std::string(text) + "\"}");
    EXPECT_EQ(count->vector_bytes, 4u) << text;
  }
}

// What Protobuf's parser makes of the same body, if it takes it.
template <typename Message>
bool ExpectAgreement(const std::string& json, const MessageTexts& texts) {
  Message message;
  const JsonCount count(json, texts);
  if (!count.status().ok() || !FromJson(json, message).ok()) return false;
  SCOPED_TRACE(json);
  ExpectSameCount(*count, CountOf(message));
  return true;
}

template <typename Message>
void ExpectAgreementOnRandomBodies(const MessageTexts& texts) {
  std::mt19937 random(5);
  int num_compared = 0;
  for (int i = 0; i < 600; ++i) {
    Message message;
    FillRandomly(random, message);
    google::protobuf::util::JsonPrintOptions options;
    options.preserve_proto_field_names = random() % 2 == 0;
    std::string json;
    ASSERT_TRUE(
        google::protobuf::util::MessageToJsonString(message, &json, options)
            .ok());
    ASSERT_TRUE(ExpectAgreement<Message>(json, texts));
    for (std::uint32_t n = 1 + random() % 3; n > 0; --n) {
      constexpr std::string_view kPieces = "[]{}\",:ntea\\ 1-.";
      json[random() % json.size()] = kPieces[random() % kPieces.size()];
    }
    num_compared += ExpectAgreement<Message>(json, texts) ? 1 : 0;
  }
  EXPECT_GT(num_compared, 10);
}

TEST(JsonTextCountTest, AgreesWithTheParserOnRandomAndDamagedBodies) {
  ExpectAgreementOnRandomBodies<v1::RankRequest>(kRankTexts);
  ExpectAgreementOnRandomBodies<v1::ExplainRequest>(kExplainTexts);
  ExpectAgreementOnRandomBodies<v1::EmbedTextsRequest>(kEmbedTexts);
  ExpectAgreementOnRandomBodies<v1::SearchDocumentsRequest>(kSearchTexts);
}

TEST(JsonTextCountTest, AgreesWithTheParserOnUnusualBodies) {
  for (const char* json :
       {R"({"ids": "7"})",
        R"({"ids": 7})",
        R"({"titles": "a"})",
        R"({"titles": null, "vectors": null, "model": null})",
        R"({"titles": ["a", null, "b"]})",
        R"({"ids": [null]})",
        R"({"titles": [true]})",
        R"({"titles": [1]})",
        R"({"titles": [["a"]]})",
        R"({"titles": [{"a": "b"}]})",
        R"({"titles": {"a": "b"}})",
        R"({"titles": ["a"], "titles": ["b"]})",
        R"({"query": "a", "query": "b"})",
        R"({"vectors": "QQ", "vectors": ""})",
        R"({"model": {"name": "a"}, "model": {"version": 3}})",
        R"({"model": {"version": "-3"}})",
        R"({"model": {"version": 3.0}})",
        R"({"model": {"name": null, "version": null}})",
        R"({"model": []})",
        R"([{"titles": ["a"]}])",
        R"({"vectors": [["QQ=="]]})",
        R"({"model": [{"version": 3}]})",
        R"({"model": [[{"name": "a"}]]})",
        R"({"titles": [["a", "b"], [["c"]], []]})",
        R"({"vectors": ["QQ=="]})",
        R"({"vectors": "Q Q = ="})",
        R"({"ids": [1e2, 7.0, "8"]})"}) {
    ExpectAgreement<v1::RankRequest>(json, kRankTexts);
  }
  for (const char* json : {R"({"id": "7"})",
                           R"({"id": 7})",
                           R"({"id": 7.0})",
                           R"({"id": "7.0"})",
                           R"({"id": "18446744073709551615"})",
                           R"({"id": 18446744073709551615})",
                           R"({"id": null, "title": "a"})",
                           R"({"title": null})",
                           R"({"title": "a", "id": null})",
                           R"({"title": "a", "title": "b"})",
                           R"({"title": "a", "documentId": "b"})",
                           R"({"id": " 7"})",
                           R"({"id": "7 "})",
                           R"({"id": "+7"})",
                           R"({"id": "0x7"})",
                           R"({"title": ["a"]})",
                           R"({"query": [["a"]]})",
                           R"({"id": [["7"]]})",
                           R"({"query": ["a"]})",
                           R"({"id": ["7"]})",
                           R"({"query": "a", "query": null})",
                           R"({"id": -0.0})"}) {
    ExpectAgreement<v1::ExplainRequest>(json, kExplainTexts);
  }
}

}  // namespace
}  // namespace semrank
