#include "model/nn/row_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "tests/model/nn/random_values.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;

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

TEST(RowFormatTest, RoundedVectorsAreKeptWithoutLoss) {
  for (const VectorPrecision precision :
       {VectorPrecision::kFloat32, VectorPrecision::kBf16}) {
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
  EXPECT_EQ(RowFormat{301}.num_bytes(), 1204u);
}

}  // namespace
}  // namespace semrank
