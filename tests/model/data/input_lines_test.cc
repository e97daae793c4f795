#include "model/data/input_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "model/cli/command_line.h"
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

TEST(BadLinesTest, LinesThatAreReadAgainAreReportedOnce) {
  BadLines bad_lines(1);
  ::testing::internal::CaptureStderr();
  EXPECT_THAT(bad_lines.Add("a.tsv", 1, "empty"), IsOk());
  bad_lines.CountAgainFrom(0);
  EXPECT_THAT(bad_lines.Add("a.tsv", 1, "empty"), IsOk());
  EXPECT_EQ(bad_lines.count(), 1);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "a.tsv:1: empty\n");
}

TEST(BadLinesTest, AShareOfEachFileIsALimit) {
  BadLines bad_lines(BadLineLimit(10, /*max_share=*/0.5));
  EXPECT_THAT(bad_lines.Add("a.tsv", 1, "empty"), IsOk());
  EXPECT_THAT(bad_lines.EndFile("a.tsv", 2), IsOk());
  EXPECT_THAT(bad_lines.Add("b.tsv", 1, "empty", 2), IsOk());
  EXPECT_THAT(
      bad_lines.EndFile("b.tsv", 3),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("b.tsv: 2 of its 3 lines cannot be used"),
                     HasSubstr("--max_bad_lines=10,50%"))));
}

TEST(BadLinesTest, LinesOfAnEarlierRunCount) {
  BadLines bad_lines(2, /*num_before=*/2);
  EXPECT_EQ(bad_lines.count(), 2);
  EXPECT_THAT(bad_lines.Add("a.tsv", 1, "empty"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(BadLinesFlagTest, TakesLinesAShareOrBoth) {
  CommandLine command_line({.name = "test", .summary = "", .usage = ""});
  BadLineLimit limit;
  AddBadLinesFlag(command_line, &limit);
  const auto parse = [&](const std::string& text) {
    return command_line.ParseArguments({"--max_bad_lines=" + text}).status();
  };
  for (const auto& [text, expected] :
       {std::pair("7", BadLineLimit(7)), std::pair("0", BadLineLimit(0)),
        std::pair("7,5%", BadLineLimit(7, 0.05)),
        std::pair("100%",
                  BadLineLimit(std::numeric_limits<std::int64_t>::max()))}) {
    EXPECT_THAT(parse(text), IsOk());
    EXPECT_EQ(limit, expected) << text;
  }
  for (const std::string text : {"", "-1", "101%", "x%", "x"}) {
    EXPECT_THAT(parse(text), StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

TEST(ProblemOfLineTest, NamesWhatNoReaderCanUse) {
  EXPECT_EQ(ProblemOfLine("caf\xc3\xa9"), "");
  EXPECT_EQ(ProblemOfLine("caf\xe9"), "not valid UTF-8");
  EXPECT_EQ(ProblemOfLine(std::string("a\0b", 3)), "has a NUL byte");
  EXPECT_EQ(ProblemOfLine(std::string(1 << 20, 'a')),
            "longer than 1048575 bytes");
}

}  // namespace
}  // namespace semrank
