#include "model/nn/kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "tests/model/nn/random_values.h"

namespace semrank {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

float TanhOf(float x) {
  Tanh(&x, 1);
  return x;
}

// A table in memory of exactly its size, so that AddressSanitizer sees a read
// behind its last row.
struct Table {
  Table(int rows, int width, unsigned seed)
      : values(new float[static_cast<std::size_t>(rows) * width]) {
    const std::vector<float> random = RandomValues(rows * width, seed);
    std::copy(random.begin(), random.end(), values.get());
  }
  std::unique_ptr<float[]> values;
};

class SumBagsTest : public ::testing::TestWithParam<int> {};

TEST_P(SumBagsTest, AddsCountTimesRow) {
  constexpr int kFeatures = 60, kTexts = 30;
  const int width = GetParam();
  const Table table(kFeatures, width, 1);
  BagBatch batch = RandomBags(kTexts, kFeatures, 2);
  batch.indices.push_back(kFeatures - 1);
  batch.counts.push_back(2);
  batch.offsets.push_back(static_cast<std::uint32_t>(batch.indices.size()));
  std::unique_ptr<float[]> sums(new float[(kTexts + 1) * width]);
  SumBags(batch, 0, kTexts + 1, table.values.get(), width, sums.get());
  for (int t = 0; t <= kTexts; ++t) {
    for (int c = 0; c < width; ++c) {
      double exact = 0;
      for (std::uint32_t i = batch.offsets[t]; i < batch.offsets[t + 1]; ++i) {
        exact += double{batch.counts[i]} *
                 table.values[batch.indices[i] * width + c];
      }
      // At most 13 terms of at most 3, each rounded to 24 bits.
      ASSERT_NEAR(sums[t * width + c], exact, 13 * 39 * 6e-8) << t << ", " << c;
    }
  }
}

TEST_P(SumBagsTest, TextAloneEqualsTheTextInABatch) {
  constexpr int kFeatures = 60, kTexts = 30;
  const int width = GetParam();
  const Table table(kFeatures, width, 3);
  const BagBatch batch = RandomBags(kTexts, kFeatures, 4);
  std::vector<float> sums(kTexts * width);
  SumBags(batch, 0, kTexts, table.values.get(), width, sums.data());
  for (int t = 0; t < kTexts; ++t) {
    std::vector<float> slice(width), alone(width);
    SumBags(batch, t, t + 1, table.values.get(), width, slice.data());
    SumBags(OneBag(batch, t), 0, 1, table.values.get(), width, alone.data());
    const std::vector<float> want(sums.begin() + t * width,
                                  sums.begin() + (t + 1) * width);
    ASSERT_EQ(slice, want) << t;
    ASSERT_EQ(alone, want) << t;
  }
}

TEST_P(SumBagsTest, RowsThatLieAnywhereAreAddedInOrder) {
  constexpr int kRows = 40;
  const int width = GetParam();
  const Table table(kRows, width, 5);
  std::vector<const float*> rows;
  for (int i = 0; i < 3 * kRows; ++i) {
    rows.push_back(table.values.get() + i * 7 % kRows * width);
  }
  // Texts of 0, 1, ..., 14 rows.
  std::vector<std::uint32_t> offsets = {0};
  for (std::uint32_t t = 0; t < 15; ++t) offsets.push_back(offsets[t] + t);
  std::unique_ptr<float[]> sums(new float[15 * width]);
  SumRows(offsets, rows.data(), width, sums.get());
  for (int t = 0; t < 15; ++t) {
    std::vector<float> want(width);
    for (std::uint32_t i = offsets[t]; i < offsets[t + 1]; ++i) {
      for (int c = 0; c < width; ++c) want[c] += rows[i][c];
    }
    ASSERT_THAT(std::vector<float>(sums.get() + t * width,
                                   sums.get() + (t + 1) * width),
                ElementsAreArray(want));
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, SumBagsTest,
                         ::testing::Values(1, 3, 4, 7, 8, 15, 16, 17, 31, 33,
                                           64, 100, 128, 300, 304, 385, 1001),
                         ::testing::PrintToStringParamName());

TEST(AddBiasTest, AddsToEveryRow) {
  const std::vector<float> bias = {1, 2, 3};
  std::vector<float> values = {0, 0, 0, 10, 20, 30};
  AddBias(bias.data(), 2, 3, values.data());
  EXPECT_THAT(values, ElementsAre(1, 2, 3, 11, 22, 33));
}

TEST(TanhTest, IsWithin3e7OfTheExactValue) {
  double worst = 0;
  std::vector<float> x, y;
  for (double v = 0; v < 12; v += 1e-5) x.push_back(static_cast<float>(v));
  for (double v = 1e-38; v < 1e38; v *= 1.01)
    x.push_back(static_cast<float>(v));
  y = x;
  Tanh(y.data(), y.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    worst = std::max(worst, std::abs(y[i] - std::tanh(double{x[i]})));
    ASSERT_LE(y[i], 1.0f) << x[i];
  }
  EXPECT_LT(worst, 3e-7);
}

TEST(TanhTest, KeepsSmallValuesToSevenDigits) {
  for (float x = 1e-30f; x < 0.5f; x *= 1.37f) {
    EXPECT_NEAR(TanhOf(x) / std::tanh(double{x}), 1, 3e-7) << x;
  }
}

TEST(TanhTest, IsOddToTheBit) {
  std::vector<float> x = RandomValues(1001, 5);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] *= 0.01f * i;
  std::vector<float> negative = x;
  for (float& v : negative) v = -v;
  Tanh(x.data(), x.size());
  Tanh(negative.data(), negative.size());
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(negative[i], -x[i]);
}

TEST(TanhTest, SaturatesAtOne) {
  EXPECT_NEAR(TanhOf(kInfinity), 1, 1.2e-7);
  EXPECT_NEAR(TanhOf(-kInfinity), -1, 1.2e-7);
  EXPECT_EQ(TanhOf(kInfinity), TanhOf(std::numeric_limits<float>::max()));
  EXPECT_EQ(TanhOf(0.0f), 0.0f);
  EXPECT_FALSE(std::signbit(TanhOf(0.0f)));
  EXPECT_TRUE(std::signbit(TanhOf(-0.0f)));
  EXPECT_TRUE(std::isnan(TanhOf(kNan)));
}

TEST(TanhTest, DoesNotDependOnThePlaceInTheArray) {
  for (std::size_t count = 1; count <= 70; ++count) {
    for (std::size_t place = 0; place < count; ++place) {
      std::vector<float> values(count, -3.0f);
      values[place] = 0.7654321f;
      Tanh(values.data(), count);
      ASSERT_EQ(values[place], TanhOf(0.7654321f)) << count << ", " << place;
    }
  }
}

TEST(NormalizeRowsTest, GivesLengthOne) {
  for (const int width : {1, 2, 15, 16, 17, 63, 64, 65, 128, 300}) {
    std::vector<float> values = RandomValues(3 * width, 6);
    const std::vector<float> before = values;
    float norms[3];
    NormalizeRows(3, width, values.data(), norms);
    for (int r = 0; r < 3; ++r) {
      double norm = 0;
      for (int i = 0; i < width; ++i) {
        norm += std::pow(double{before[r * width + i]}, 2);
      }
      norm = std::sqrt(norm);
      // The norm and the quotient are each rounded a few times.
      EXPECT_NEAR(norms[r], norm, 1e-6 * norm);
      for (int i = 0; i < width; ++i) {
        ASSERT_NEAR(values[r * width + i], before[r * width + i] / norm, 1e-6);
      }
    }
  }
}

TEST(NormalizeRowsTest, RowsWithoutDirectionBecomeZero) {
  for (const float bad : {0.0f, 1e-13f, kInfinity, -kInfinity, kNan}) {
    std::vector<float> values = {bad, 0, 0};
    NormalizeRows(1, 3, values.data());
    EXPECT_THAT(values, Each(0.0f)) << bad;
  }
}

TEST(NormalizeRowsTest, HugeRowsGetLengthOne) {
  std::vector<float> values = {3e38f, -3e38f, 0, 0};
  float norm = 0;
  NormalizeRows(1, 4, values.data(), &norm);
  EXPECT_NEAR(values[0], std::sqrt(0.5), 1e-6);
  EXPECT_NEAR(values[1], -std::sqrt(0.5), 1e-6);
  EXPECT_EQ(norm, std::numeric_limits<float>::max());
}

TEST(DotTest, MatchesDoublePrecision) {
  for (int width = 1; width <= 200; ++width) {
    const std::vector<float> a = RandomValues(width, 7);
    const std::vector<float> b = RandomValues(width, 8);
    double exact = 0;
    for (int i = 0; i < width; ++i) exact += double{a[i]} * b[i];
    // Each of at most 200 terms is at most 1 and rounded to 24 bits.
    EXPECT_NEAR(Dot(a.data(), b.data(), width), exact, 200 * 6e-8) << width;
  }
}

TEST(DotTest, GivesTheSameBitsForAnyAlignment) {
  for (const int width : {5, 16, 37, 128, 300}) {
    const std::vector<float> a = RandomValues(width, 9);
    const std::vector<float> b = RandomValues(width, 10);
    const float want = Dot(a.data(), b.data(), width);
    for (int shift = 0; shift < 16; ++shift) {
      std::vector<float> moved(width + 16);
      std::copy(a.begin(), a.end(), moved.begin() + shift);
      ASSERT_EQ(Dot(moved.data() + shift, b.data(), width), want) << shift;
    }
  }
}

}  // namespace
}  // namespace semrank
