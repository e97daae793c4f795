#include "model/nn/row_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "tests/model/nn/random_values.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;

float Infinity() { return std::numeric_limits<float>::infinity(); }
float Nan() { return std::numeric_limits<float>::quiet_NaN(); }

double Length(const std::vector<float>& vector) {
  double squared = 0;
  for (const float value : vector) squared += double{value} * value;
  return std::sqrt(squared);
}

std::vector<float> ToBf16(std::vector<float> vector) {
  RoundVector(VectorPrecision::kBf16, vector);
  return vector;
}

TEST(RowFormatTest, Bf16RoundsToTheNearestAndTiesToEven) {
  // Seven bits follow the point.
  EXPECT_THAT(ToBf16({0x1.02p0f, 0x1.03p0f, 0x1.05p0f, 0x1.0501p0f, -0x1.07p0f,
                      0x1.ffp0f, 0x1.fffp0f}),
              ElementsAre(0x1.02p0f, 0x1.04p0f, 0x1.04p0f, 0x1.06p0f,
                          -0x1.08p0f, 0x2p0f, 0x2p0f));
}

TEST(RowFormatTest, ZeroInfinityAndNanStay) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const std::vector<float> rounded = ToBf16(
      {0.0f, -0.0f, kInf, -kInf, std::numeric_limits<float>::quiet_NaN()});
  EXPECT_THAT(std::vector(rounded.begin(), rounded.end() - 1),
              ElementsAre(0.0f, 0.0f, kInf, -kInf));
  EXPECT_TRUE(std::signbit(rounded[1]));
  EXPECT_TRUE(std::isnan(rounded[4]));
}

TEST(RowFormatTest, Bf16IsOffByAtMostOnePartIn256AndStaysWhenRoundedAgain) {
  const std::vector<float> vector = RandomValues(1000, 1);
  const std::vector<float> rounded = ToBf16(vector);
  for (std::size_t i = 0; i < vector.size(); ++i) {
    EXPECT_LE(std::abs(rounded[i] - vector[i]), std::abs(vector[i]) / 256);
  }
  EXPECT_FALSE(IsRounded(VectorPrecision::kBf16, vector));
  EXPECT_TRUE(IsRounded(VectorPrecision::kBf16, rounded));
  EXPECT_EQ(ToBf16(rounded), rounded);
}

std::vector<float> ToInt8(std::vector<float> vector) {
  RoundVector(VectorPrecision::kInt8, vector);
  return vector;
}

TEST(RowFormatTest, Int8IsMultiplesOfTheSmallestPowerOfTwoThatSuffices) {
  // The largest element is 127/128, so 1/128 suffices; 127.25/128 needs 1/64.
  EXPECT_THAT(ToInt8({127.0f / 128, -1.5f / 128, 2.5f / 128, 0.25f / 128}),
              ElementsAre(127.0f / 128, -2.0f / 128, 2.0f / 128, 0));
  EXPECT_THAT(ToInt8({127.25f / 128, 3.0f / 128, 5.0f / 128}),
              ElementsAre(64.0f / 64, 2.0f / 64, 2.0f / 64));
  EXPECT_THAT(ToInt8({0, 0}), ElementsAre(0, 0));
  EXPECT_THAT(ToInt8({1e30f, -1e25f}),
              ElementsAre(testing::FloatNear(1e30f, 8e27f), 0));
}

TEST(RowFormatTest, Int8OfInfinityOrNanIsNan) {
  for (const float bad : {std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN()}) {
    const std::vector<float> rounded = ToInt8({1, -bad});
    EXPECT_TRUE(std::isnan(rounded[0]) && std::isnan(rounded[1]));
  }
}

TEST(RowFormatTest, Int8IsOffByAtMostOnePartIn127OfTheLargestAndStays) {
  for (const float factor : {1e-6f, 0.37f, 1.0f, 1e9f}) {
    std::vector<float> vector = RandomValues(1000, 1);
    float largest = 0;
    for (float& value : vector) {
      value *= factor;
      largest = std::max(largest, std::abs(value));
    }
    const std::vector<float> rounded = ToInt8(vector);
    for (std::size_t i = 0; i < vector.size(); ++i) {
      EXPECT_LE(std::abs(rounded[i] - vector[i]), largest / 127);
    }
    EXPECT_FALSE(IsRounded(VectorPrecision::kInt8, vector));
    EXPECT_TRUE(IsRounded(VectorPrecision::kInt8, rounded));
    EXPECT_EQ(ToInt8(rounded), rounded);
  }
}

TEST(RowFormatTest, LengthErrorBoundsWhatRoundingDoesToUnitLength) {
  for (const VectorPrecision precision :
       {VectorPrecision::kFloat32, VectorPrecision::kBf16,
        VectorPrecision::kInt8}) {
    for (const int dim : {2, 64, 300}) {
      std::vector<float> vector = RandomValues(dim, 3);
      const double length = Length(vector);
      for (float& value : vector) value = static_cast<float>(value / length);
      RoundVector(precision, vector);
      EXPECT_LE(std::abs(Length(vector) - 1),
                LengthError(precision, vector) + 1e-6);
      EXPECT_LT(LengthError(precision, vector), 0.1);
    }
  }
}

TEST(RowFormatTest, RoundedVectorsAreKeptWithoutLoss) {
  for (const VectorPrecision precision :
       {VectorPrecision::kFloat32, VectorPrecision::kBf16,
        VectorPrecision::kInt8}) {
    const RowFormat format = {301, precision};
    std::vector<float> vector = RandomValues(301, 2);
    RoundVector(precision, vector);
    std::vector<std::byte> row(format.num_bytes());
    EncodeRow(vector.data(), format, row.data());
    std::vector<float> decoded(301);
    DecodeRow(row.data(), format, decoded.data());
    EXPECT_EQ(decoded, vector);
  }
  EXPECT_EQ((RowFormat{301, VectorPrecision::kBf16}.num_bytes()), 602u);
  EXPECT_EQ((RowFormat{301, VectorPrecision::kInt8}.num_bytes()), 308u);
  EXPECT_EQ(RowFormat{301}.num_bytes(), 1204u);
}

TEST(RowFormatTest, ScalesToLengthOne) {
  std::vector<float> vector = {3, -4};
  EXPECT_TRUE(ScaleToUnitLength(VectorPrecision::kFloat32, vector));
  EXPECT_THAT(vector, ElementsAre(0.6f, -0.8f));
}

TEST(RowFormatTest, LargestAndSmallestFloatsKeepTheirDirection) {
  for (const float size : {std::numeric_limits<float>::max(),
                           std::numeric_limits<float>::denorm_min()}) {
    std::vector<float> vector = {0, size};
    EXPECT_TRUE(ScaleToUnitLength(VectorPrecision::kFloat32, vector));
    EXPECT_THAT(vector, ElementsAre(0, 1));
  }
}

TEST(RowFormatTest, ZeroStaysZero) {
  std::vector<float> vector = {0, 0};
  EXPECT_TRUE(ScaleToUnitLength(VectorPrecision::kFloat32, vector));
  EXPECT_THAT(vector, ElementsAre(0, 0));
}

TEST(RowFormatTest, AUnitVectorKeepsItsBits) {
  const std::vector<float> unit = {0.26726124f, 0.53452248f, 0.80178373f};
  std::vector<float> vector = unit;
  EXPECT_TRUE(ScaleToUnitLength(VectorPrecision::kFloat32, vector));
  EXPECT_EQ(vector, unit);
}

TEST(RowFormatTest, RoundedVectorsOfTextsKeepTheirBitsAndOthersAreRounded) {
  for (const VectorPrecision precision :
       {VectorPrecision::kBf16, VectorPrecision::kInt8}) {
    std::vector<float> vector = {0.26726124f, 0.53452248f, 0.80178373f};
    RoundVector(precision, vector);
    const std::vector<float> of_text = vector;
    EXPECT_TRUE(ScaleToUnitLength(precision, vector));
    EXPECT_EQ(vector, of_text);
    vector = {1, 2, 3};
    EXPECT_TRUE(ScaleToUnitLength(precision, vector));
    EXPECT_EQ(vector, of_text);
  }
}

TEST(RowFormatTest, NanAndInfinityAreRefused) {
  for (const float bad : {Nan(), Infinity(), -Infinity()}) {
    std::vector<float> vector = {1, bad};
    EXPECT_FALSE(ScaleToUnitLength(VectorPrecision::kFloat32, vector));
  }
}

TEST(RowFormatTest, OnlyValuesThatCanBeScoredAreUsable) {
  for (const float bad : {Nan(), Infinity(), -Infinity(), 1.1e15f}) {
    EXPECT_FALSE(HasUsableValues(std::vector<float>{1, bad, 2})) << bad;
  }
  EXPECT_TRUE(HasUsableValues(std::vector<float>{1e15f, -1e15f, 0}));
  EXPECT_TRUE(HasUsableValues({}));
}

}  // namespace
}  // namespace semrank
