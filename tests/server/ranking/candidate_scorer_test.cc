#include "server/ranking/candidate_scorer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace semrank {
namespace {

using ::testing::ElementsAre;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(GivenVectorsTest, ScalesToLengthOne) {
  std::vector<float> vector = {3, -4};
  EXPECT_TRUE(ScaleToUnitLength(vector));
  EXPECT_THAT(vector, ElementsAre(0.6f, -0.8f));
}

TEST(GivenVectorsTest, LargestAndSmallestFloatsKeepTheirDirection) {
  for (const float size : {std::numeric_limits<float>::max(),
                           std::numeric_limits<float>::denorm_min()}) {
    std::vector<float> vector = {0, size};
    EXPECT_TRUE(ScaleToUnitLength(vector));
    EXPECT_THAT(vector, ElementsAre(0, 1));
  }
}

TEST(GivenVectorsTest, ZeroStaysZero) {
  std::vector<float> vector = {0, 0};
  EXPECT_TRUE(ScaleToUnitLength(vector));
  EXPECT_THAT(vector, ElementsAre(0, 0));
}

TEST(GivenVectorsTest, AUnitVectorKeepsItsBits) {
  const std::vector<float> unit = {0.26726124f, 0.53452248f, 0.80178373f};
  std::vector<float> vector = unit;
  EXPECT_TRUE(ScaleToUnitLength(vector));
  EXPECT_EQ(vector, unit);
}

TEST(GivenVectorsTest, RoundedVectorsOfTextsKeepTheirBitsAndOthersAreRounded) {
  for (const VectorPrecision precision :
       {VectorPrecision::kBf16, VectorPrecision::kInt8}) {
    std::vector<float> vector = {0.26726124f, 0.53452248f, 0.80178373f};
    RoundVector(precision, vector);
    const std::vector<float> of_text = vector;
    EXPECT_TRUE(ScaleToUnitLength(vector, precision));
    EXPECT_EQ(vector, of_text);
    vector = {1, 2, 3};
    EXPECT_TRUE(ScaleToUnitLength(vector, precision));
    EXPECT_EQ(vector, of_text);
  }
}

TEST(GivenVectorsTest, NanAndInfinityAreRefused) {
  for (const float bad : {kNan, kInfinity, -kInfinity}) {
    std::vector<float> vector = {1, bad};
    EXPECT_FALSE(ScaleToUnitLength(vector));
  }
}

TEST(GivenVectorsTest, OnlyValuesThatCanBeScoredAreUsable) {
  for (const float bad : {kNan, kInfinity, -kInfinity, 1.1e15f}) {
    EXPECT_FALSE(HasUsableValues(std::vector<float>{1, bad, 2})) << bad;
  }
  EXPECT_TRUE(HasUsableValues(std::vector<float>{1e15f, -1e15f, 0}));
  EXPECT_TRUE(HasUsableValues({}));
}

}  // namespace
}  // namespace semrank
