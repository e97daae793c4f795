#include "model/nn/row_bounds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
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
  struct Bounds {
    std::vector<float> by_high;
    std::vector<float> close;
  };
  // Of the rows with the query.
  static Bounds BoundsOf(const std::vector<float>& query,
                         const std::vector<float>& rows) {
    const std::size_t dim = query.size();
    const std::size_t units = NumCodeUnits(GetParam());
    const std::size_t count = rows.size() / dim;
    std::vector<CodeUnit> high(count * units);
    std::vector<CodeUnit> low(count * units);
    std::vector<RowScale> scales(count);
    for (std::size_t i = 0; i < count; ++i) {
      scales[i] = QuantizeRow(std::span(rows).subspan(i * dim, dim),
                              &high[i * units], &low[i * units]);
    }
    BoundQuery prepared;
    prepared.Prepare(query);
    Bounds bounds;
    bounds.by_high.resize(count);
    prepared.Bound(high.data(), scales.data(), bounds.by_high);
    for (std::size_t i = 0; i < count; ++i) {
      bounds.close.push_back(
          prepared.BoundClosely(&high[i * units], &low[i * units], scales[i]));
    }
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
      const Bounds bounds = BoundsOf(query, rows);
      const std::vector<float> scores = ScoresOf(query, rows);
      for (std::size_t i = 0; i < scores.size(); ++i) {
        EXPECT_FALSE(bounds.by_high[i] < scores[i])
            << query_scale << " " << row_scale;
        EXPECT_FALSE(bounds.close[i] < scores[i])
            << query_scale << " " << row_scale;
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
    const Bounds bounds = BoundsOf(query, row);
    EXPECT_GE(bounds.by_high[0], ScoresOf(query, row)[0]) << i;
    EXPECT_GE(bounds.close[0], ScoresOf(query, row)[0]) << i;
  }
}

// The products of values and codes are the largest there are; in 32 bits they
// would not fit.
TEST_P(RowBoundsTest, VectorsOfEqualNumbersAreBounded) {
  for (const float value : {0.25f, -0.25f}) {
    const std::vector<float> query(GetParam(), value);
    const std::vector<float> row(GetParam(), 0.25f);
    const Bounds bounds = BoundsOf(query, row);
    const float score = ScoresOf(query, row)[0];
    EXPECT_GE(bounds.by_high[0], score);
    EXPECT_GE(bounds.close[0], score);
    EXPECT_LE(bounds.close[0],
              score + 0.01f * Norm(row.data()) * Norm(row.data()));
  }
}

// 1 part in 254 of the largest number is what a code is off by at most, 1 in 17
// without its low half.
TEST_P(RowBoundsTest, BoundsAreCloseForRowsOfUsualNumbers) {
  const std::vector<float> query = RandomRows(1, 0.1);
  const std::vector<float> rows = RandomRows(39, 0.1);
  const Bounds bounds = BoundsOf(query, rows);
  const std::vector<float> scores = ScoresOf(query, rows);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const float norms = Norm(query.data()) * Norm(&rows[i * GetParam()]);
    EXPECT_LE(bounds.close[i], scores[i] + 0.04f * norms);
    EXPECT_LE(bounds.by_high[i], scores[i] + 0.4f * norms);
  }
}

TEST_P(RowBoundsTest, ZeroVectorsHaveBoundZero) {
  const std::vector<float> zeros(GetParam());
  for (const Bounds& bounds : {BoundsOf(zeros, RandomRows(1, 0.1)),
                               BoundsOf(RandomRows(1, 0.1), zeros)}) {
    EXPECT_EQ(bounds.by_high[0], 0);
    EXPECT_EQ(bounds.close[0], 0);
  }
}

TEST_P(RowBoundsTest, NumbersThatAreNotFiniteBoundNothing) {
  for (const float bad : {std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN()}) {
    std::vector<float> row = RandomRows(1, 0.1);
    row[row.size() / 2] = bad;
    for (const Bounds& bounds : {BoundsOf(RandomRows(1, 0.1), row),
                                 BoundsOf(row, RandomRows(1, 0.1))}) {
      EXPECT_TRUE(std::isnan(bounds.by_high[0]));
      EXPECT_TRUE(std::isnan(bounds.close[0]));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Dimensions, RowBoundsTest,
                         testing::Values(1, 7, 16, 33, 128, 256, 300, 4096));

}  // namespace
}  // namespace semrank
