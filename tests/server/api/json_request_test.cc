#include "server/api/json_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "semrank/v1/catalog_service.pb.h"
#include "semrank/v1/embedding_service.pb.h"
#include "semrank/v1/ranking_service.pb.h"
#include "server/base/errors.h"
#include "server/base/vector_encoding.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Message is the type of the request.
template <typename Message = v1::RankRequest>
absl::StatusOr<Message> Parse(std::string_view json) {
  JsonRequest request;
  const absl::Status status =
      ReadJsonRequest(std::string(json), *Message::descriptor(), request);
  if (!status.ok()) return status;
  Message message;
  EXPECT_TRUE(message.ParseFromString(request.bytes)) << json;
  return message;
}

std::string ErrorOf(std::string_view json) {
  const absl::Status status = Parse(json).status();
  EXPECT_EQ(ErrorReason(status), "MALFORMED_MESSAGE") << json;
  return std::string(status.message());
}

TEST(JsonRequestTest, ABodyBecomesTheBytesOfItsMessage) {
  const auto request =
      Parse(R"({"query": "q", "titles": ["a", "b"], "ids": ["7", 8],
                "topK": 3, "min_score": 0.5, "vectors": "AAAAAA==",
                "model": {"name": "shop", "version": "2"},
                "filter": {"include_tags": ["x"]}, "with_titles": true})");
  ASSERT_THAT(request, IsOk());
  EXPECT_EQ(request->query(), "q");
  EXPECT_THAT(request->titles(), ElementsAre("a", "b"));
  EXPECT_THAT(request->ids(), ElementsAre(7, 8));
  EXPECT_EQ(request->top_k(), 3u);
  EXPECT_EQ(request->min_score(), 0.5f);
  EXPECT_EQ(request->vectors(), std::string(4, '\0'));
  EXPECT_EQ(request->model().name(), "shop");
  EXPECT_EQ(request->model().version(), 2);
  EXPECT_THAT(request->filter().include_tags(), ElementsAre("x"));
  EXPECT_TRUE(request->with_titles());
}

TEST(JsonRequestTest, ALongMessageInAMessageHasItsLength) {
  const std::string name(100'000, 'n');
  const auto request = Parse(R"({"model": {"name": ")" + name + R"("}})");
  ASSERT_THAT(request, IsOk());
  EXPECT_EQ(request->model().name(), name);
}

TEST(JsonRequestTest, EscapesAreTextOfAnyLanguage) {
  const auto request = Parse(
      R"({"\u0071uery": "\ud83d\ude00 \u4e2d\"\\\n", "titles": ["caf\u00e9", "é"]})");
  ASSERT_THAT(request, IsOk());
  EXPECT_EQ(request->query(), "😀 中\"\\\n");
  EXPECT_THAT(request->titles(), ElementsAre("café", "é"));
}

TEST(JsonRequestTest, NullIsAnAbsentField) {
  const auto request = Parse(
      R"({"query": null, "titles": null, "model": null, "min_score": null})");
  ASSERT_THAT(request, IsOk());
  EXPECT_EQ(request->ByteSizeLong(), 0u);
}

struct NumberCase {
  const char* json;
  std::uint32_t top_k;
};

TEST(JsonRequestTest, AWholeNumberMayBeATextOrHaveAPoint) {
  for (const NumberCase& test : {NumberCase{"7", 7},
                                 {"\"7\"", 7},
                                 {"7.0", 7},
                                 {"7e2", 700},
                                 {"4294967295", 4294967295}}) {
    const auto request = Parse(absl::StrCat("{\"top_k\": ", test.json, "}"));
    ASSERT_THAT(request, IsOk()) << test.json;
    EXPECT_EQ(request->top_k(), test.top_k) << test.json;
  }
  for (const char* json :
       {"-1", "1.5", "4294967296", "1e300", "\"many\"", "\"\"", "\"07\"",
        "\" 7\"", "\"+7\"", "true", "[1]", "{}"}) {
    EXPECT_THAT(ErrorOf(absl::StrCat("{\"top_k\": ", json, "}")),
                HasSubstr("top_k: want a whole number from 0 to 4294967295"))
        << json;
  }
}

TEST(JsonRequestTest, NumbersOf64BitsKeepAllDigits) {
  const auto request =
      Parse(R"({"ids": [18446744073709551615, "18446744073709551614"]})");
  ASSERT_THAT(request, IsOk());
  EXPECT_THAT(request->ids(),
              ElementsAre(18446744073709551615u, 18446744073709551614u));
  EXPECT_THAT(ErrorOf(R"({"ids": [7, 18446744073709551616]})"),
              HasSubstr("ids[1]: want a whole number"));
  // As a double it is 9007199254740992.
  EXPECT_THAT(ErrorOf(R"({"ids": [9007199254740993.0]})"),
              HasSubstr("ids[0]: want a whole number"));
}

TEST(JsonRequestTest, EnumsAreNamesOrNumbers) {
  EXPECT_EQ(Parse(R"({"parts": "PARTS_LEXICAL"})")->parts(), v1::PARTS_LEXICAL);
  EXPECT_EQ(Parse(R"({"parts": 1})")->parts(), v1::PARTS_SEMANTIC);
  EXPECT_EQ(Parse(R"({"parts": -1})")->parts(), -1);  // for its handler
  EXPECT_THAT(ErrorOf(R"({"parts": "both"})"),
              HasSubstr("parts: unknown value \"both\"; it may be "
                        "PARTS_SEMANTIC, PARTS_LEXICAL"));
}

TEST(JsonRequestTest, VectorsAreBase64OrRowsOfNumbers) {
  std::string bytes;
  EncodeFloat32(std::vector<float>{1, -0.5, 0, 3e20f}, bytes);
  const auto rows = Parse(R"({"vectors": [[1, -0.5], [0, 3e20]]})");
  ASSERT_THAT(rows, IsOk());
  EXPECT_EQ(rows->vectors(), bytes);
  EXPECT_EQ(Parse(R"({"vectors": []})")->vectors(), "");
  for (const char* json : {"[[1, 2], [3]]", "[1]", "[[[1]]]", "[[\"1\"]]",
                           "[[1], null]", "[[1], [true]]"}) {
    EXPECT_EQ(
        ErrorReason(Parse(absl::StrCat("{\"vectors\": ", json, "}")).status()),
        "BAD_VECTOR")
        << json;
  }
  EXPECT_THAT(ErrorOf(R"({"vectors": "?"})"), HasSubstr("base64"));
}

TEST(JsonRequestTest, AnEncodingSaysWhetherVectorsAreNumbers) {
  struct Case {
    const char* json;
    bool wants_numbers;
  };
  for (const Case& test : {Case{"{}", true},
                           {R"({"encoding": "float"})", true},
                           {R"({"encoding": null})", true},
                           {R"({"encoding": "base64"})", false},
                           {R"({"encoding": "VECTOR_ENCODING_INT8"})", false},
                           {R"({"encoding": 1})", false}}) {
    JsonRequest request;
    ASSERT_THAT(ReadJsonRequest(test.json, *v1::EmbedTextsRequest::descriptor(),
                                request),
                IsOk());
    EXPECT_EQ(request.wants_numbers, test.wants_numbers) << test.json;
  }
}

TEST(JsonRequestTest, AFieldIsGivenOnceWhateverItsSpelling) {
  for (const char* json :
       {R"({"query": "a", "query": "a"})", R"({"top_k": 1, "topK": 1})",
        R"({"query": "a", "\u0071uery": "b"})",
        R"({"titles": ["a"], "titles": ["b"]})",
        R"({"query": null, "query": "a"})",
        R"({"model": {"name": "a"}, "model": {"version": 1}})",
        R"({"model": {"name": "a", "name": "b"}})"}) {
    EXPECT_THAT(ErrorOf(json), HasSubstr("repeats")) << json;
  }
  EXPECT_THAT(
      std::string(Parse<v1::Document>(R"({"id": 7, "document_id": "a"})")
                      .status()
                      .message()),
      HasSubstr("document_id: another field of \"key\""));
}

TEST(JsonRequestTest, AnUnknownFieldIsNamedWithTheOneThatIsMeant) {
  EXPECT_THAT(ErrorOf(R"({"titlez": ["a"]})"),
              HasSubstr("unknown field \"titlez\" (did you mean titles?)"));
  EXPECT_THAT(ErrorOf(R"({"model": {"namez": "a"}})"),
              HasSubstr("did you mean name?"));
  EXPECT_THAT(ErrorOf(R"({"nothing_like_it": 1})"),
              ::testing::Not(HasSubstr("did you mean")));
}

TEST(JsonRequestTest, AnErrorNamesTheFieldAndTheByte) {
  EXPECT_THAT(ErrorOf(R"({"titles": ["a", "b", 7]})"),
              HasSubstr("titles[2]: want a text (byte 22)"));
  EXPECT_THAT(ErrorOf(R"({"model": {"version": "x"}})"),
              HasSubstr("model.version: want a whole number"));
  EXPECT_THAT(ErrorOf("{\"query\": \"a\xff\"}"), HasSubstr("UTF-8 at byte 12"));
  EXPECT_THAT(ErrorOf("\xEF\xBB\xBF{}"), HasSubstr("byte order mark"));
  EXPECT_THAT(ErrorOf(std::string_view("{\0}\0", 4)), HasSubstr("UTF-16"));
  EXPECT_THAT(ErrorOf("\xFF\xFE{"), HasSubstr("UTF-16"));
}

// RFC 8259, where Protobuf's own parser takes more.
TEST(JsonRequestTest, OnlyStrictJsonIsTaken) {
  for (const char* json : {"",
                           " ",
                           "{",
                           "}",
                           "[]",
                           "7",
                           "null",
                           "\"q\"",
                           "{}{}",
                           "{} x",
                           "{},",
                           "{'query': \"q\"}",
                           "{query: \"q\"}",
                           R"({"query": 'q'})",
                           R"({"query": "q",})",
                           R"({,"query": "q"})",
                           R"({"query": "q" "top_k": 1})",
                           R"({"query" "q"})",
                           R"({"query": })",
                           R"({"query": "q")",
                           R"({"query": "q)",
                           R"({"titles": ["a",]})",
                           R"({"titles": ["a" "b"]})",
                           R"({"titles": ["a"})",
                           R"({"titles": ["a"]]})",
                           R"({"top_k": 01})",
                           R"({"top_k": +1})",
                           R"({"top_k": .5})",
                           R"({"top_k": 1.})",
                           R"({"top_k": 0x1})",
                           R"({"min_score": NaN})",
                           R"({"with_titles": yes})",
                           R"({"with_titles": truee})",
                           R"({"with_titles": "true"})",
                           R"({"query": nul})",
                           R"({"query": nullx})",
                           "{\"query\": \"a\tb\"}",
                           R"({"query": "\x"})",
                           R"({"query": "\u12"})",
                           R"({"query": "\ud800"})",
                           R"({"query": "\udc00 a"})",
                           R"({"query": "\ud800\ud800"})",
                           "{\"query\": \"q\"} // end",
                           "/* */ {}",
                           R"({"titles": [{"a": 1}]})",
                           R"({"titles": "a"})",
                           R"({"titles": [null]})",
                           R"({"model": "shop"})",
                           R"({"query": ["q"]})"}) {
    ErrorOf(json);
  }
  EXPECT_THAT(Parse(" \t\r\n{ \"query\" : \"q\" , \"top_k\" : 1 } \n"), IsOk());
}

TEST(JsonRequestTest, DeepNestingCostsNothing) {
  const std::string deep(4'000'000, '[');
  EXPECT_THAT(ErrorOf("{\"titles\": " + deep), HasSubstr("JSON"));
  EXPECT_THAT(
      ErrorOf("{\"titles\": " + deep + std::string(deep.size(), ']') + "}"),
      HasSubstr("titles[0]: want a text"));
}

}  // namespace
}  // namespace semrank
