#include "server/base/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <utility>
#include <vector>

#include "server/base/errors.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

TEST(AdmissionTest, AdmitsUpToTheLimitAndNotOneTextMore) {
  Admission admission(10);
  ASSERT_OK_AND_ASSIGN(const Admission::Permit seven, admission.Admit(7));
  EXPECT_THAT(admission.Admit(4),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       ::testing::AllOf(
                           ::testing::HasSubstr("4 texts do not fit beside the "
                                                "7 in flight"),
                           ::testing::HasSubstr("--max_inflight_texts"))));
  EXPECT_THAT(admission.Admit(3), IsOk());
}

TEST(AdmissionTest, APermitGivesItsTextsBack) {
  Admission admission(10);
  {
    ASSERT_OK_AND_ASSIGN(Admission::Permit permit, admission.Admit(10));
    const Admission::Permit moved = std::move(permit);
    EXPECT_EQ(admission.inflight_texts(), 10);
  }
  EXPECT_EQ(admission.inflight_texts(), 0);
}

TEST(AdmissionTest, ARefusalTakesNothingAndSaysWhenToComeBack) {
  Admission admission(1);
  const absl::Status refused = admission.Admit(2).status();
  EXPECT_EQ(admission.inflight_texts(), 0);
  EXPECT_EQ(ErrorReason(refused), "OVERLOADED");
  EXPECT_EQ(ErrorValues(refused)["retry_delay_ms"], "100");
}

TEST(AdmissionTest, ACallWithoutTextsAlwaysFits) {
  Admission admission(1);
  ASSERT_OK_AND_ASSIGN(const Admission::Permit all, admission.Admit(1));
  EXPECT_THAT(admission.Admit(0), IsOk());
}

TEST(AdmissionTest, RoomIsNotThereOnceTheLastTextIsTaken) {
  Admission admission(2);
  ASSERT_OK_AND_ASSIGN(const Admission::Permit first, admission.Admit(1));
  EXPECT_THAT(admission.CheckRoom(), IsOk());
  ASSERT_OK_AND_ASSIGN(const Admission::Permit second, admission.Admit(1));
  EXPECT_EQ(ErrorValues(admission.CheckRoom())["retry_delay_ms"], "100");
  EXPECT_EQ(admission.inflight_texts(), 2);
}

TEST(AdmissionTest, HighWaterMarkIsTheSameForEachWhoReadsIt) {
  Admission admission(10);
  { const auto permit = admission.Admit(8); }
  EXPECT_FALSE(admission.Admit(11).ok());
  EXPECT_EQ(admission.high_water_mark(), 8);
  EXPECT_EQ(admission.high_water_mark(), 8);
}

TEST(HighWaterMarkTest, LastsForThisMinuteAndTheOneBeforeIt) {
  const HighWaterMark::Clock::time_point start{std::chrono::hours(1)};
  using std::chrono::seconds;
  HighWaterMark texts;
  texts.Raise(8, start);
  texts.Lower(7, start + seconds(1));
  EXPECT_EQ(texts.level(), 1);
  EXPECT_EQ(texts.mark(start + seconds(59)), 8);
  EXPECT_EQ(texts.mark(start + seconds(119)), 8);
  EXPECT_EQ(texts.mark(start + seconds(120)), 1);
  texts.Raise(3, start + seconds(120));
  EXPECT_EQ(texts.mark(start + seconds(121)), 4);
}

TEST(HighWaterMarkTest, ALevelThatLastedCountsUpToItsFall) {
  const HighWaterMark::Clock::time_point start{std::chrono::hours(1)};
  HighWaterMark texts;
  texts.Raise(8, start);
  const auto later = start + std::chrono::minutes(9);
  EXPECT_EQ(texts.mark(later), 8);
  texts.Lower(8, later);
  EXPECT_EQ(texts.mark(later + std::chrono::minutes(1)), 8);
  EXPECT_EQ(texts.mark(later + std::chrono::minutes(2)), 0);
}

TEST(AdmissionTest, ThreadsNeverExceedTheLimitTogether) {
  Admission admission(100);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10000; ++i) {
        const auto permit = admission.Admit(1 + i % 60);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(admission.inflight_texts(), 0);
  EXPECT_LE(admission.high_water_mark(), 100);
}

}  // namespace
}  // namespace semrank
