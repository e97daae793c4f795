#include "model/cli/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(FormatProgressTest, ShowsShareRateTimeLeftAndNote) {
  EXPECT_EQ(FormatProgress("epoch 3/20", 520'000, 1'000'000, "pairs",
                           absl::Seconds(10), "loss 1.204"),
            "epoch 3/20 [=====>    ]  52 %  52,000 pairs/s  0:09 left  "
            "loss 1.204");
}

TEST(FormatProgressTest, AtTheStartThereIsNoRateYet) {
  EXPECT_EQ(FormatProgress("train", 0, 100, "pairs", absl::ZeroDuration(), ""),
            "train [>         ]   0 %");
}

TEST(FormatProgressTest, AtTheEndSaysHowLongItTook) {
  EXPECT_EQ(FormatProgress("train", 100, 100, "pairs", absl::Seconds(85), ""),
            "train [==========] 100 %  1.2 pairs/s  in 1:25");
}

TEST(FormatProgressTest, WithoutTotalShowsCountAndRate) {
  EXPECT_EQ(FormatProgress("reading", 61'200, 0, "lines", absl::Seconds(2), ""),
            "reading  61,200 lines  30,600 lines/s");
}

TEST(FormatProgressTest, LongTimesHaveHours) {
  EXPECT_THAT(FormatProgress("x", 1, 2, "u", absl::Seconds(3723), ""),
              HasSubstr("  1:02:03 left"));
}

TEST(FormatProgressTest, MoreDoneThanPlannedIsAHundredPercent) {
  EXPECT_THAT(FormatProgress("x", 300, 100, "u", absl::Seconds(1), ""),
              HasSubstr("[==========] 100 %"));
}

TEST(FormatProgressTest, ExtremeNumbersHaveAShareAndATimeLeft) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(FormatProgress("x", kMost, kMost, "u", absl::Nanoseconds(1), ""),
              HasSubstr("100 %"));
  EXPECT_THAT(FormatProgress("x", 1, kMost, "u", absl::Hours(1'000'000), ""),
              HasSubstr("left"));
}

// Tests have no terminal on standard error once it is captured.
TEST(ProgressBarTest, ShortWorkIsOneLineAtItsEnd) {
  ::testing::internal::CaptureStderr();
  {
    ProgressBar bar("embedding", 3, "texts");
    for (int done = 1; done <= 3; ++done) bar.Update(done, "almost");
  }
  const std::string shown = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(shown, HasSubstr("embedding [==========] 100 %"));
  EXPECT_THAT(shown, HasSubstr("almost\n"));
  EXPECT_EQ(std::count(shown.begin(), shown.end(), '\n'), 1);
  EXPECT_THAT(shown, Not(HasSubstr("\r")));
}

TEST(ProgressBarTest, WithoutUpdatesShowsNothing) {
  ::testing::internal::CaptureStderr();
  { ProgressBar bar("embedding", 3, "texts"); }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace semrank
