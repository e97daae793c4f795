#include "server/base/fair_share.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "server/base/admission.h"
#include "server/base/connection_count.h"
#include "server/base/errors.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

TEST(FairShareTest, ACallerMayHaveHalfOfWhatOthersLeave) {
  FairShare share("texts", 100, 0.5);
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(share.Take("batch", 1)) << i;
  EXPECT_FALSE(share.Take("batch", 1));
  for (int i = 0; i < 25; ++i) EXPECT_TRUE(share.Take("front", 1)) << i;
  EXPECT_FALSE(share.Take("front", 1));
}

TEST(FairShareTest, AnotherCallerAlwaysFindsRoom) {
  FairShare share("texts", 1'000, 0.5);
  for (const char* caller : {"a", "b", "c", "d", "e"}) {
    EXPECT_TRUE(share.Take(caller, 1)) << caller;
    while (share.Take(caller, 1)) {
    }
  }
}

TEST(FairShareTest, ACallerThatHoldsNothingMayTakeAllThatIsFree) {
  FairShare share("texts", 100, 0.5);
  EXPECT_TRUE(share.Take("a", 60));
  EXPECT_FALSE(share.Take("b", 41));
  EXPECT_TRUE(share.Take("b", 40));
  EXPECT_FALSE(share.Take("c", 1));
}

TEST(FairShareTest, WhatIsReturnedMayBeTakenAgain) {
  FairShare share("texts", 10, 0.5);
  EXPECT_TRUE(share.Take("a", 5));
  EXPECT_FALSE(share.Take("a", 1));
  share.Return("a", 5);
  EXPECT_EQ(share.held_by("a"), 0);
  EXPECT_TRUE(share.Take("a", 5));
}

TEST(FairShareTest, TheServerItselfAndAShareOfOneAreNotBounded) {
  FairShare share("texts", 10, 0.5);
  EXPECT_TRUE(share.Take("", 1'000));
  share.Return("", 1'000);
  FairShare off("texts", 10, 1);
  EXPECT_TRUE(off.Take("a", 1'000));
}

TEST(FairShareTest, TheErrorNamesTheFlagAndTheTimeToComeBack) {
  FairShare share("texts in flight", 10, 0.5);
  EXPECT_THAT(share.Check("a"), IsOk());
  EXPECT_TRUE(share.Take("a", 5));
  const absl::Status refused = share.Check("a");
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kResourceExhausted,
                                "this caller's number of texts in flight would "
                                "rise to 6; the limit is 5, its share "
                                "(--max_share_per_caller) of what other "
                                "callers leave free; retry in 100 ms"));
  EXPECT_EQ(ErrorReason(refused), "CALLER_SHARE");
  EXPECT_EQ(ErrorValues(refused)["flag"], "max_share_per_caller");
  EXPECT_EQ(ErrorValues(refused)["limit"], "5");
  EXPECT_EQ(ErrorValues(refused)["retry_delay_ms"], "100");
}

TEST(FairShareTest, WhatIsHeldIsReturnedOnceHoweverItIsMoved) {
  FairShare share("texts", 10, 0.5);
  {
    HeldShare held;
    EXPECT_TRUE(held.Take(share, "a", 5));
    EXPECT_FALSE(HeldShare().Take(share, "a", 1));
    HeldShare moved = std::move(held);
    EXPECT_EQ(share.held_by("a"), 5);
    EXPECT_TRUE(moved.Take(share, "a", 3));
    EXPECT_EQ(share.held_by("a"), 3);
  }
  EXPECT_EQ(share.held_by("a"), 0);
}

TEST(FairShareTest, ABatchJobLeavesTextsForAFrontEnd) {
  Admission admission(100, 0.5);
  ASSERT_OK_AND_ASSIGN(auto batch, admission.Admit(50, "batch"));
  EXPECT_EQ(ErrorReason(admission.Admit(1, "batch").status()), "CALLER_SHARE");
  EXPECT_EQ(ErrorReason(admission.CheckRoom("batch")), "CALLER_SHARE");
  EXPECT_THAT(admission.CheckRoom("front"), IsOk());
  EXPECT_THAT(admission.Admit(25, "front"), IsOk());
  EXPECT_EQ(admission.inflight_texts(), 50);
  batch.reset();
  EXPECT_THAT(admission.Admit(50, "batch"), IsOk());
}

TEST(FairShareTest, ConnectionsOfOneAddressLeaveRoomForOthers) {
  ConnectionCount count(4, 0.5);
  EXPECT_TRUE(count.Enter("a"));
  EXPECT_TRUE(count.Enter("a"));
  EXPECT_FALSE(count.Enter("a"));
  EXPECT_EQ(count.num_refused(), 1);
  EXPECT_TRUE(count.Enter("b"));
  count.Leave("a");
  EXPECT_EQ(count.num_open(), 2);
}

}  // namespace
}  // namespace semrank
