#include "model/train/data/text_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ClickedTitlesTest, AreTheDistinctTitlesOfAQuery) {
  const std::vector<TextPair> pairs = {{7, 3}, {5, 9}, {7, 1}, {7, 3},
                                       {5, 9}, {9, 3}, {9, 2}};
  const ClickedTitles clicked(pairs);
  EXPECT_THAT(clicked.Of(5), ElementsAre(9));
  EXPECT_THAT(clicked.Of(6), IsEmpty());
  EXPECT_THAT(clicked.Of(7), ElementsAre(1, 3));
  EXPECT_THAT(clicked.Of(8), IsEmpty());
  EXPECT_THAT(clicked.Of(9), ElementsAre(2, 3));
  EXPECT_THAT(clicked.Of(10), IsEmpty());
}

TEST(ClickedTitlesTest, OfNoPairsAreNone) {
  EXPECT_THAT(ClickedTitles().Of(0), IsEmpty());
  EXPECT_THAT(ClickedTitles(std::vector<TextPair>()).Of(0), IsEmpty());
}

}  // namespace
}  // namespace semrank
