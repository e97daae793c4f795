#include "server/core/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <utility>
#include <vector>

#include "server/core/errors.h"
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

TEST(AdmissionTest, HighWaterMarkStartsAgainWhenTaken) {
  Admission admission(10);
  { const auto permit = admission.Admit(8); }
  EXPECT_EQ(admission.TakeHighWaterMark(), 8);
  EXPECT_EQ(admission.TakeHighWaterMark(), 0);
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
  EXPECT_LE(admission.TakeHighWaterMark(), 100);
}

}  // namespace
}  // namespace semrank
