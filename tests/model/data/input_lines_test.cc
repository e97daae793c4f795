#include "model/data/input_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(BadLinesTest, NoneAllowedEndsAtTheFirst) {
  BadLines bad_lines(0);
  EXPECT_THAT(
      bad_lines.Add("clicks.tsv", 7, "no tab"),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("clicks.tsv:7: no tab"), HasSubstr("bad line 1"),
                     HasSubstr("--max_bad_lines=0"))));
}

TEST(BadLinesTest, LimitCountsOverAllFiles) {
  BadLines bad_lines(2);
  EXPECT_THAT(bad_lines.Add("a.tsv", 1, "empty"), IsOk());
  EXPECT_THAT(bad_lines.Add("b.tsv", 1, "empty"), IsOk());
  EXPECT_EQ(bad_lines.count(), 2);
  EXPECT_THAT(bad_lines.Add("c.tsv", 1, "empty"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(BadLinesTest, PrintsTheFirstFewAndSaysThatItStops) {
  BadLines bad_lines(1000);
  ::testing::internal::CaptureStderr();
  for (int line = 1; line <= 1000; ++line) {
    EXPECT_THAT(bad_lines.Add("a.tsv", line, "no tab"), IsOk());
  }
  const std::string printed = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(printed, HasSubstr("a.tsv:1: no tab\n"));
  EXPECT_THAT(printed, HasSubstr("counted but not printed"));
  EXPECT_LT(std::count(printed.begin(), printed.end(), '\n'), 20);
}

}  // namespace
}  // namespace semrank
