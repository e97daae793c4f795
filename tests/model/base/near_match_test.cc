#include "model/base/near_match.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace semrank {
namespace {

TEST(EditDistanceTest, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(EditDistance("", ""), 0);
  EXPECT_EQ(EditDistance("", "abc"), 3);
  EXPECT_EQ(EditDistance("abc", ""), 3);
  EXPECT_EQ(EditDistance("gamma", "gamma"), 0);
  EXPECT_EQ(EditDistance("gama", "gamma"), 1);
  EXPECT_EQ(EditDistance("gammma", "gamma"), 1);
  EXPECT_EQ(EditDistance("gemma", "gamma"), 1);
  EXPECT_EQ(EditDistance("agmma", "gamma"), 1);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3);
}

struct NearMatchCase {
  std::string_view typed, want;
};
class NearMatchTest : public ::testing::TestWithParam<NearMatchCase> {};

TEST_P(NearMatchTest, FindsTheNearestNameOrNothing) {
  const std::vector<std::string> names = {
      "gamma", "seed", "batch_size", "train", "tower", "titles", "top_k"};
  EXPECT_EQ(NearMatch(GetParam().typed, names), GetParam().want);
}
INSTANTIATE_TEST_SUITE_P(
    Names, NearMatchTest,
    ::testing::Values(NearMatchCase{"gama", "gamma"},
                      NearMatchCase{"gamma", "gamma"},
                      NearMatchCase{"batch-size", "batch_size"},
                      NearMatchCase{"batch", "batch_size"},
                      NearMatchCase{"batchsizes", "batch_size"},
                      NearMatchCase{"sed", "seed"}, NearMatchCase{"se", "seed"},
                      NearMatchCase{"xy", ""}, NearMatchCase{"t", ""},
                      NearMatchCase{"", ""},
                      NearMatchCase{"learning_rate", ""}));

TEST(NearMatchTest, NoNamesAndOverlongTextsHaveNoMatch) {
  EXPECT_EQ(NearMatch("gamma", {}), "");
  EXPECT_EQ(NearMatch(std::string(1'000'000, 'g'), {"gamma"}), "");
}

}  // namespace
}  // namespace semrank
