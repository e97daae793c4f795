#include "server/json_text_count.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace semrank {
namespace {

struct TextCountCase {
  std::string_view name, json;
  std::int64_t want;
};

class TextCountTest : public ::testing::TestWithParam<TextCountCase> {};

TEST_P(TextCountTest, CountsTheTextsOfTheOutermostObject) {
  const std::vector<std::string_view> fields = {"query", "titles", "ids"};
  EXPECT_EQ(CountJsonTexts(GetParam().json, fields), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, TextCountTest,
    ::testing::ValuesIn<TextCountCase>({
        {"Whole", R"({"query": "q", "titles": ["a", "b"], "top_k": 9})", 3},
        {"Numbers", R"({"ids": [1, "2", 3.0]})", 3},
        {"OtherFields", R"({"texts": ["a"], "model": {"query": "x"}})", 0},
        {"Escaped", R"({"\u0074itles": ["a"]})", 1},
        {"Twice", R"({"titles": ["a"], "titles": ["b"]})", 2},
        {"Deep", R"({"titles": [["a"], {"b": "c"}]})", 0},
        {"Cut", R"({"titles": ["a", "b", "c)", 2},
        {"NoObject", R"(["a", "b"])", 0},
        {"Null", R"({"titles": null})", 0},
        {"Nothing", "", 0},
    }),
    [](const auto& test) { return std::string(test.param.name); });

TEST(TextCountTest, HostileNestingEndsInTheCount) {
  const std::vector<std::string_view> fields = {"titles"};
  EXPECT_EQ(
      CountJsonTexts("{\"titles\":" + std::string(1'000'000, '['), fields), 0);
}

}  // namespace
}  // namespace semrank
