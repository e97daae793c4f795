#include <gtest/gtest.h>

#include <algorithm>

#include "model/train/validation/validator.h"

namespace semrank {
namespace {

TEST(ValidationFoldsTest, HalvesAreEqualAndDecidedByTheSeed) {
  for (const std::size_t count : {2u, 7u, 1000u}) {
    const auto folds = DrawFolds(count, /*seed=*/5);
    ASSERT_EQ(folds.size(), count);
    const auto ones =
        static_cast<std::size_t>(std::count(folds.begin(), folds.end(), 1));
    EXPECT_EQ(ones, count / 2);
    EXPECT_EQ(DrawFolds(count, 5), folds);
  }
  EXPECT_NE(DrawFolds(1000, 5), DrawFolds(1000, 6));
}

TEST(FoldMeansTest, AreWeighted) {
  FoldMeans means;
  means.Add(0, 1, 2);
  means.Add(0, 4, 1);
  means.Add(1, 3, 3);
  EXPECT_EQ(means.Folds(), (FoldScores{{{2, 3}, {3, 3}}}));
  EXPECT_EQ(means.All(), 2.5);
}

}  // namespace
}  // namespace semrank
