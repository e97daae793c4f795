#include "model/format/strict_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

auto IsRefused(const std::string& reason) {
  return StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(reason));
}

TEST(StrictJsonTest, TakesPlainJson) {
  ASSERT_OK_AND_ASSIGN(const nlohmann::json value,
                       ParseStrictJson(R"( {"a": [1, -2, 3.5, null, true],
                                            "b": {"a": "ü"}} )"));
  EXPECT_EQ(value["a"].size(), 5u);
  EXPECT_EQ(value["b"]["a"], "ü");
}

TEST(StrictJsonTest, RefusesWhatIsNotJson) {
  for (const std::string text : {"", "{", "{\"a\":1,}", "nan", "{} {}", "'a'",
                                 "{\"a\": 01}", "// x\n{}"}) {
    EXPECT_THAT(ParseStrictJson(text), IsRefused("not valid JSON")) << text;
  }
  EXPECT_THAT(ParseStrictJson("\"\xC3\""), IsRefused("not valid JSON"));
  EXPECT_THAT(ParseStrictJson(std::string_view("{}\0", 3)),
              IsRefused("not valid JSON"));
}

TEST(StrictJsonTest, RefusesRepeatedMembersAtAnyDepth) {
  EXPECT_THAT(ParseStrictJson(R"({"a": 1, "a": 1})"), IsRefused("\"a\""));
  EXPECT_THAT(ParseStrictJson(R"([{"b": {"c": 1, "d": 2, "c": 3}}])"),
              IsRefused("\"c\""));
  EXPECT_THAT(ParseStrictJson(R"({"a": {"a": [{"a": 1}, {"a": 2}]}})"), IsOk());
}

TEST(StrictJsonTest, RefusesDeepNesting) {
  EXPECT_THAT(ParseStrictJson(std::string(kMaxJsonDepth, '[') +
                              std::string(kMaxJsonDepth, ']')),
              IsOk());
  EXPECT_THAT(ParseStrictJson(std::string(kMaxJsonDepth + 1, '[')),
              IsRefused("nested"));
  EXPECT_THAT(ParseStrictJson(std::string(10'000'000, '[')),
              IsRefused("nested"));
}

}  // namespace
}  // namespace semrank
