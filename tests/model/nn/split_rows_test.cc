#include "model/nn/split_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "model/nn/cosine_scorer.h"
#include "model/nn/row_bounds.h"
#include "model/nn/row_format.h"

namespace semrank {
namespace {

// Rows of one dimension that are rounded to int8, split and as they are.
class SplitRowsTest : public testing::TestWithParam<int> {
 protected:
  static constexpr std::size_t kRows = 39;

  std::size_t dim() const { return static_cast<std::size_t>(GetParam()); }
  RowFormat format() const { return {GetParam(), VectorPrecision::kInt8}; }
  std::vector<float> RandomVectors(std::size_t count, double scale) {
    std::normal_distribution<double> normal;
    std::vector<float> vectors(count * dim());
    for (float& value : vectors) {
      value = static_cast<float>(scale * normal(random_));
    }
    for (std::size_t i = 0; i < count; ++i) {
      RoundVector(VectorPrecision::kInt8,
                  std::span(vectors).subspan(i * dim(), dim()));
    }
    return vectors;
  }
  void Split(const std::vector<float>& vectors) {
    const std::size_t num_bytes = NumCodeBytes(GetParam());
    const std::size_t count = vectors.size() / dim();
    codes_.resize(count * num_bytes);
    remainders_.resize(count * num_bytes);
    scales_.resize(count);
    split_.clear();
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t first = i * num_bytes;
      scales_[i] = SplitIntoCodes(std::span(vectors).subspan(i * dim(), dim()),
                                  &codes_[first], &remainders_[first]);
      split_.push_back({&codes_[first], &remainders_[first], &scales_[i]});
    }
  }
  std::vector<float> Join(std::size_t i) const {
    std::vector<float> vector(dim());
    semrank::Join(split_[i], vector);
    return vector;
  }
  std::vector<float> ScoresOf(const std::vector<float>& query) const {
    BoundQuery prepared;
    prepared.Prepare(query);
    std::vector<float> scores(split_.size());
    ScoreSplitRows(prepared, query, split_, scores);
    return scores;
  }
  std::vector<float> BoundsOf(const std::vector<float>& query) const {
    BoundQuery prepared;
    prepared.Prepare(query);
    std::vector<float> bounds(split_.size());
    prepared.Bound(codes_.data(), scales_.data(), bounds);
    return bounds;
  }
  // The scores of the rows as they are.
  std::vector<float> ExpectedScores(const std::vector<float>& query,
                                    const std::vector<float>& vectors) const {
    const std::size_t count = vectors.size() / dim();
    std::vector<float> scores(count);
    std::vector<std::vector<std::byte>> rows(count);
    std::vector<const std::byte*> pointers;
    for (std::size_t i = 0; i < count; ++i) {
      rows[i].resize(format().num_bytes());
      EncodeRow(&vectors[i * dim()], format(), rows[i].data());
      pointers.push_back(rows[i].data());
    }
    ScoreDocuments(query.data(), pointers, format(), scores);
    return scores;
  }

  std::mt19937 random_{1};
  std::vector<std::uint8_t> codes_, remainders_;
  std::vector<RowScale> scales_;
  std::vector<SplitRow> split_;
};

TEST_P(SplitRowsTest, AreTheSameRowsJoined) {
  for (const double scale : {1e-30, 0.1, 1e20}) {
    const std::vector<float> vectors = RandomVectors(kRows, scale);
    Split(vectors);
    for (std::size_t i = 0; i < kRows; ++i) {
      const auto* const vector = &vectors[i * dim()];
      EXPECT_EQ(Join(i), std::vector<float>(vector, vector + dim()));
    }
  }
}

TEST_P(SplitRowsTest, EachLargestMultipleHasItsCodes) {
  for (int largest = 0; largest <= 127; ++largest) {
    for (const int sign : {-1, 1}) {
      std::vector<float> vector(dim(), static_cast<float>(-sign * largest));
      vector[0] = static_cast<float>(sign * largest);
      Split(vector);
      EXPECT_EQ(Join(0), vector) << largest;
      EXPECT_EQ(ScoresOf(vector), ExpectedScores(vector, vector)) << largest;
    }
  }
}

TEST_P(SplitRowsTest, ScoreWithTheBitsOfInt8Rows) {
  for (const double scale : {1e-30, 1e-5, 0.1, 1e15}) {
    const std::vector<float> vectors = RandomVectors(kRows, scale);
    Split(vectors);
    const std::vector<float> query = RandomVectors(1, 0.1);
    EXPECT_EQ(ScoresOf(query), ExpectedScores(query, vectors));
    const std::vector<float> zeros(dim());
    EXPECT_EQ(ScoresOf(zeros), ExpectedScores(zeros, vectors));
    std::vector<float> not_rounded = query;
    not_rounded[0] += 1e-4f;
    EXPECT_EQ(ScoresOf(not_rounded), ExpectedScores(not_rounded, vectors));
  }
}

TEST_P(SplitRowsTest, NoScoreIsAboveItsBound) {
  for (const double scale : {1e-30, 0.1, 1e6}) {
    const std::vector<float> vectors = RandomVectors(kRows, scale);
    Split(vectors);
    for (const double query_scale : {1e-10, 0.1, 1e6}) {
      const std::vector<float> query = RandomVectors(1, query_scale);
      const std::vector<float> bounds = BoundsOf(query);
      const std::vector<float> scores = ExpectedScores(query, vectors);
      for (std::size_t i = 0; i < kRows; ++i) {
        EXPECT_FALSE(bounds[i] < scores[i]) << scale << " " << query_scale;
      }
    }
  }
}

TEST_P(SplitRowsTest, ZeroVectorsHaveBoundZero) {
  const std::vector<float> zeros(dim());
  Split(zeros);
  EXPECT_EQ(Join(0), zeros);
  const std::vector<float> query = RandomVectors(1, 0.1);
  EXPECT_EQ(ScoresOf(query)[0], 0);
  EXPECT_LT(BoundsOf(query)[0], 1e-6f);
}

TEST_P(SplitRowsTest, NumbersThatAreNotFiniteAreNaN) {
  std::vector<float> vector = RandomVectors(1, 0.1);
  const std::vector<float> query = vector;
  vector[dim() / 2] = std::numeric_limits<float>::infinity();
  Split(vector);
  EXPECT_TRUE(std::isnan(ScoresOf(query)[0]));
  EXPECT_TRUE(std::isnan(BoundsOf(query)[0]));
}

INSTANTIATE_TEST_SUITE_P(Dimensions, SplitRowsTest,
                         testing::Values(1, 7, 16, 33, 128, 256, 300,
                                         kMaxIntegerDim));

}  // namespace
}  // namespace semrank
