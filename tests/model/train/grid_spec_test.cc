#include "model/train/grid_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_format.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> Settings(std::string_view text) {
  const auto settings = ParseGrid(text);
  EXPECT_THAT(settings, IsOk());
  std::vector<std::string> texts;
  if (!settings.ok()) return texts;
  for (const GridSetting& setting : *settings) {
    texts.push_back(FormatSetting(setting));
  }
  return texts;
}

TEST(GridSpecTest, MakesEveryCombination) {
  EXPECT_THAT(
      Settings("learning_rate=0.1,0.2;gamma=5,10"),
      ElementsAre("learning_rate=0.1 gamma=5", "learning_rate=0.1 gamma=10",
                  "learning_rate=0.2 gamma=5", "learning_rate=0.2 gamma=10"));
}

TEST(GridSpecTest, BarsLeaveCommasToTheValues) {
  EXPECT_THAT(Settings("hidden=300,300|300"),
              ElementsAre("hidden=300,300", "hidden=300"));
}

TEST(GridSpecTest, BlanksAroundPartsDoNotCount) {
  EXPECT_THAT(Settings("gamma = 5, 10"), ElementsAre("gamma=5", "gamma=10"));
}

TEST(GridSpecTest, OneValueIsASetting) {
  EXPECT_THAT(Settings("gamma=5"), ElementsAre("gamma=5"));
}

struct WrongSpecCase {
  std::string name;
  std::string text;
  std::string reason;
};

class WrongSpecTest : public ::testing::TestWithParam<WrongSpecCase> {};

TEST_P(WrongSpecTest, IsRefusedWithTheReason) {
  const auto settings = ParseGrid(GetParam().text);
  EXPECT_THAT(settings, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(settings.status().message()),
              HasSubstr(GetParam().reason));
}

std::string ManyValues(int count) {
  std::string text = "seed=0";
  for (int i = 1; i < count; ++i) absl::StrAppendFormat(&text, ",%d", i);
  return text;
}

INSTANTIATE_TEST_SUITE_P(
    Specs, WrongSpecTest,
    ::testing::Values(
        WrongSpecCase{"NoValue", "gamma", "must be flag=value"},
        WrongSpecCase{"NoFlag", "=1,2", "must be flag=value"},
        WrongSpecCase{"EmptyPart", "gamma=1;", "must be flag=value"},
        WrongSpecCase{"FlagTwice", "gamma=1;gamma=2", "names gamma twice"},
        WrongSpecCase{"ValueTwice", "gamma=1,2,1", "'1' stands twice"},
        WrongSpecCase{"TooMany", ManyValues(101), "more than 100"},
        WrongSpecCase{"TooManyTogether", ManyValues(51) + ";gamma=1,2",
                      "more than 100"}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace semrank
