#include "model/nn/row_bounds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "model/nn/cosine_scorer.h"

namespace semrank {
namespace {

class RowBoundsTest : public testing::TestWithParam<int> {
 protected:
  std::vector<float> RandomRows(int count, double scale) {
    std::normal_distribution<double> normal;
    std::vector<float> rows(static_cast<std::size_t>(count) * GetParam());
    for (float& value : rows) {
      value = static_cast<float>(scale * normal(random_));
    }
    return rows;
  }
  static float Norm(const float* row) {
    double squares = 0;
    for (int i = 0; i < GetParam(); ++i) squares += double{row[i]} * row[i];
    return static_cast<float>(std::sqrt(squares));
  }
  // The scores of the rows with the query.
  static std::vector<float> BoundsOf(const std::vector<float>& query,
                                     const std::vector<float>& rows) {
    const std::size_t dim = query.size();
    const std::size_t num_bytes = NumCodeBytes(GetParam());
    const std::size_t count = rows.size() / dim;
    std::vector<std::uint8_t> codes(count * num_bytes);
    std::vector<RowScale> scales(count);
    for (std::size_t i = 0; i < count; ++i) {
      scales[i] = QuantizeRow(std::span(rows).subspan(i * dim, dim),
                              &codes[i * num_bytes]);
    }
    BoundQuery prepared;
    prepared.Prepare(query);
    std::vector<float> bounds(count);
    prepared.Bound(codes.data(), scales.data(), bounds);
    return bounds;
  }
  static std::vector<float> ScoresOf(const std::vector<float>& query,
                                     const std::vector<float>& rows) {
    std::vector<float> scores(rows.size() / query.size());
    ScoreMatrix(query.data(), rows.data(), static_cast<int>(query.size()),
                scores);
    return scores;
  }

  std::mt19937 random_{1};
};

TEST_P(RowBoundsTest, NoScoreIsAboveItsBound) {
  for (const double query_scale : {1e-10, 0.1, 1e6}) {
    for (const double row_scale : {1e-44, 1e-30, 0.1, 1e6}) {
      const std::vector<float> query = RandomRows(1, query_scale);
      const std::vector<float> rows = RandomRows(39, row_scale);
      const std::vector<float> bounds = BoundsOf(query, rows);
      const std::vector<float> scores = ScoresOf(query, rows);
      for (std::size_t i = 0; i < scores.size(); ++i) {
        EXPECT_FALSE(bounds[i] < scores[i]) << query_scale << " " << row_scale;
      }
    }
  }
}

// The row that scores highest, and the one that rounding hits hardest.
TEST_P(RowBoundsTest, TheQueryItselfAndItsNeighboursAreBounded) {
  const std::vector<float> query = RandomRows(1, 0.1);
  for (int i = 0; i < 100; ++i) {
    std::vector<float> row = query;
    row[i % row.size()] *= 1.0f + 0.01f * static_cast<float>(i);
    const std::vector<float> bounds = BoundsOf(query, row);
    EXPECT_GE(bounds[0], ScoresOf(query, row)[0]) << i;
  }
}

// The products of values and codes are the largest there are; in 32 bits they
// would not fit.
TEST_P(RowBoundsTest, VectorsOfEqualNumbersAreBounded) {
  for (const float value : {0.25f, -0.25f}) {
    const std::vector<float> query(GetParam(), value);
    const std::vector<float> row(GetParam(), 0.25f);
    const std::vector<float> bounds = BoundsOf(query, row);
    EXPECT_GE(bounds[0], ScoresOf(query, row)[0]);
  }
}

// 1 part in 16 of the largest number is what a code is off by at most.
TEST_P(RowBoundsTest, BoundsAreCloseForRowsOfUsualNumbers) {
  const std::vector<float> query = RandomRows(1, 0.1);
  const std::vector<float> rows = RandomRows(39, 0.1);
  const std::vector<float> bounds = BoundsOf(query, rows);
  const std::vector<float> scores = ScoresOf(query, rows);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const float norms = Norm(query.data()) * Norm(&rows[i * GetParam()]);
    EXPECT_LE(bounds[i], scores[i] + 0.4f * norms);
  }
}

TEST_P(RowBoundsTest, ZeroVectorsHaveBoundZero) {
  const std::vector<float> zeros(GetParam());
  EXPECT_EQ(BoundsOf(zeros, RandomRows(1, 0.1))[0], 0);
  EXPECT_EQ(BoundsOf(RandomRows(1, 0.1), zeros)[0], 0);
}

TEST_P(RowBoundsTest, NumbersThatAreNotFiniteBoundNothing) {
  for (const float bad : {std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN()}) {
    std::vector<float> row = RandomRows(1, 0.1);
    row[row.size() / 2] = bad;
    EXPECT_TRUE(std::isnan(BoundsOf(RandomRows(1, 0.1), row)[0]));
    EXPECT_TRUE(std::isnan(BoundsOf(row, RandomRows(1, 0.1))[0]));
  }
}

INSTANTIATE_TEST_SUITE_P(Dimensions, RowBoundsTest,
                         testing::Values(1, 7, 16, 33, 128, 256, 300, 4096));

}  // namespace
}  // namespace semrank
