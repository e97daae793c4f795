#include <gtest/gtest.h>

#include "server/base/admission.h"

namespace semrank {
namespace {

TEST(RequestCostsTest, BeforeTheFirstMeasurementATextCostsTheFirstGuess) {
  EXPECT_EQ(RequestCosts().Estimate(RequestKind::kRank, 10),
            10 * RequestCosts::kFirstGuess);
  EXPECT_EQ(RequestCosts().Estimate(RequestKind::kOther, 0),
            RequestCosts::kFirstGuess);
}

TEST(RequestCostsTest, AMeasurementCountsForItsKindAndForSizesLikeIt) {
  RequestCosts costs;
  costs.Record(RequestKind::kRank, 1'000, absl::Milliseconds(1));
  EXPECT_EQ(costs.Estimate(RequestKind::kRank, 600), absl::Microseconds(600));
  EXPECT_EQ(costs.Estimate(RequestKind::kEmbed, 600),
            600 * RequestCosts::kFirstGuess);
  EXPECT_EQ(costs.Estimate(RequestKind::kRank, 100),
            100 * RequestCosts::kFirstGuess);
}

TEST(RequestCostsTest, TheMeanFollowsWhatIsMeasuredNow) {
  RequestCosts costs;
  costs.Record(RequestKind::kRank, 100, absl::Milliseconds(10));
  for (int i = 0; i < 40; ++i) {
    costs.Record(RequestKind::kRank, 100, absl::Microseconds(10));
  }
  EXPECT_LT(costs.Estimate(RequestKind::kRank, 100), absl::Microseconds(100));
  EXPECT_GE(costs.Estimate(RequestKind::kRank, 100), absl::Microseconds(10));
}

TEST(RequestCostsTest, OneStalledThreadChangesTheMeanLittle) {
  RequestCosts costs;
  costs.Record(RequestKind::kRank, 100, absl::Milliseconds(1));
  costs.Record(RequestKind::kRank, 100, absl::Seconds(10));
  EXPECT_LT(costs.Estimate(RequestKind::kRank, 100), absl::Milliseconds(1.2));
}

TEST(RequestCostsTest, TheFirstThreadMayHaveStalledToo) {
  RequestCosts costs;
  costs.Record(RequestKind::kEmbed, 100, absl::Seconds(10));
  EXPECT_LT(costs.Estimate(RequestKind::kEmbed, 100), absl::Milliseconds(10));
}

TEST(RequestCostsTest, LargestSizesShareAMean) {
  RequestCosts costs;
  costs.Record(RequestKind::kSearch, 1'000'000, absl::Seconds(1));
  EXPECT_EQ(costs.Estimate(RequestKind::kSearch, 500'000),
            absl::Milliseconds(500));
}

}  // namespace
}  // namespace semrank
