#include "model/nn/cosine_scorer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "model/nn/kernels.h"
#include "tests/model/nn/random_values.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<RankedDocument> Rank(const std::vector<float>& scores,
                                 std::uint32_t top_k) {
  std::vector<RankedDocument> ranking;
  RankScores(scores, top_k, ranking);
  return ranking;
}

std::vector<RankedDocument> SlowRank(const std::vector<float>& scores,
                                     std::uint32_t top_k) {
  std::vector<std::uint32_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return scores[a] > scores[b]; });
  std::vector<RankedDocument> ranking;
  for (const std::uint32_t i : order) ranking.push_back({i, scores[i]});
  if (top_k != 0 && top_k < ranking.size()) ranking.resize(top_k);
  return ranking;
}

// Few distinct values, so that many scores tie.
std::vector<float> ScoresWithTies(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> scores(count);
  for (float& s : scores) s = static_cast<float>(random() % 201) / 100 - 1;
  return scores;
}

TEST(RankScoresTest, OrdersByScoreThenPosition) {
  EXPECT_THAT(Rank({0.5f, -1.0f, 0.75f, 0.5f}, 0),
              ElementsAre(RankedDocument{2, 0.75f}, RankedDocument{0, 0.5f},
                          RankedDocument{3, 0.5f}, RankedDocument{1, -1.0f}));
}

TEST(RankScoresTest, AgreesWithAStableSort) {
  for (const std::size_t count : {1, 2, 3, 10, 63, 100, 1000, 4097, 20000}) {
    const std::vector<float> random = RandomValues(count, 1);
    const std::vector<float> ties = ScoresWithTies(count, 2);
    for (const std::uint32_t top_k : {0u, 1u, 2u, 10u, 100u, 5000u}) {
      ASSERT_EQ(Rank(random, top_k), SlowRank(random, top_k))
          << count << ", " << top_k;
      ASSERT_EQ(Rank(ties, top_k), SlowRank(ties, top_k))
          << count << ", " << top_k;
    }
  }
}

TEST(RankScoresTest, OrdersAscendingAndEqualScores) {
  std::vector<float> rising(10000);
  for (std::size_t i = 0; i < rising.size(); ++i) rising[i] = i * 1e-4f;
  EXPECT_EQ(Rank(rising, 7), SlowRank(rising, 7));
  const std::vector<float> equal(10000, 0.5f);
  EXPECT_EQ(Rank(equal, 3000), SlowRank(equal, 3000));
}

TEST(RankScoresTest, NanRanksLast) {
  const float nan = std::nanf("");
  std::vector<RankedDocument> ranking;
  RankScores(std::vector<float>{nan, -1, -nan, 1}, 2, ranking);
  EXPECT_EQ(ranking, (std::vector<RankedDocument>{{3, 1}, {1, -1}}));
}

TEST(RankScoresTest, MinusZeroTiesWithZero) {
  EXPECT_THAT(Rank({-0.0f, 0.0f, -0.0f, 1e-45f, -1e-45f}, 0),
              ElementsAre(RankedDocument{3, 1e-45f}, RankedDocument{0, 0.0f},
                          RankedDocument{1, 0.0f}, RankedDocument{2, 0.0f},
                          RankedDocument{4, -1e-45f}));
}

TEST(RankScoresTest, NoScoresGiveNoRanking) {
  EXPECT_THAT(Rank({}, 0), IsEmpty());
  EXPECT_THAT(Rank({}, 5), IsEmpty());
}

TEST(RankScoresTest, WorksInManyThreads) {
  const std::vector<float> scores = RandomValues(5000, 3);
  const std::vector<RankedDocument> want = SlowRank(scores, 50);
  std::vector<std::vector<RankedDocument>> got(4);
  std::vector<std::thread> threads;
  for (auto& ranking : got) {
    threads.emplace_back([&] { RankScores(scores, 50, ranking); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& ranking : got) EXPECT_EQ(ranking, want);
}

// Rounded vectors, kept as rows.
std::vector<std::byte> RoundAndEncode(RowFormat format,
                                      std::vector<float>& vectors) {
  const auto dim = static_cast<std::size_t>(format.dim);
  const std::size_t num_rows = vectors.size() / dim;
  std::vector<std::byte> rows(num_rows * format.num_bytes());
  for (std::size_t i = 0; i < num_rows; ++i) {
    const std::span<float> vector(&vectors[i * dim], dim);
    RoundVector(format.precision, vector);
    EncodeRow(vector.data(), format, &rows[i * format.num_bytes()]);
  }
  return rows;
}

TEST(ScoreTest, KeptRowsGiveTheBitsOfTheVectors) {
  constexpr int kDocuments = 39;
  for (const VectorPrecision precision :
       {VectorPrecision::kFloat32, VectorPrecision::kBf16,
        VectorPrecision::kInt8}) {
    for (const int dim : {3, 16, 100, 128, 333}) {
      const RowFormat format = {dim, precision};
      const std::vector<float> query = RandomValues(dim, 4);
      std::vector<float> vectors = RandomValues(kDocuments * dim, 5);
      const std::vector<std::byte> matrix = RoundAndEncode(format, vectors);
      std::vector<const std::byte*> rows;
      for (int i = 0; i < kDocuments; ++i) {
        rows.push_back(matrix.data() + i * format.num_bytes());
      }
      std::vector<float> expected(kDocuments), scores(kDocuments);
      ScoreMatrix(query.data(), vectors.data(), dim, expected);
      ScoreFarMatrix(query.data(), matrix.data(), format, scores);
      EXPECT_EQ(scores, expected);
      ScoreDocuments(query.data(), rows, format, scores);
      EXPECT_EQ(scores, expected);
      ScoreNearDocuments(query.data(), rows, format, scores);
      EXPECT_EQ(scores, expected);
      for (int i = 0; i < kDocuments; ++i) {
        const float* const vector = vectors.data() + i * dim;
        EXPECT_EQ(expected[i], Dot(query.data(), vector, dim));
        double dot = 0;
        for (int d = 0; d < dim; ++d) dot += double{query[d]} * vector[d];
        // Products below 1, each added with a float's rounding.
        EXPECT_NEAR(expected[i], dot, 1e-6 + 1e-7 * dim);
      }
    }
  }
}

// With a query of a model's they are integers, and a sum of them is exact.
TEST(ScoreTest, ProductsOfInt8RowsWithARoundedQueryAreExact) {
  constexpr int kDocuments = 39;
  for (const int dim : {1, 3, 31, 64, 100, 128, 256, 333, 1040, 1041}) {
    const RowFormat format = {dim, VectorPrecision::kInt8};
    std::vector<float> query = RandomValues(dim, 4);
    RoundVector(format.precision, query);
    std::vector<float> vectors = RandomValues(kDocuments * dim, 5);
    std::fill_n(vectors.begin(), dim, 0.0f);
    const std::vector<std::byte> matrix = RoundAndEncode(format, vectors);
    std::vector<const std::byte*> rows;
    for (int i = 0; i < kDocuments; ++i) {
      rows.push_back(matrix.data() + i * format.num_bytes());
    }
    std::vector<float> expected(kDocuments), scores(kDocuments);
    ScoreMatrix(query.data(), vectors.data(), dim, expected);
    ScoreDocuments(query.data(), rows, format, scores);
    EXPECT_EQ(std::memcmp(scores.data(), expected.data(),
                          scores.size() * sizeof(float)),
              0)
        << dim;
    for (int i = 0; i < kDocuments; ++i) {
      double dot = 0;
      for (int d = 0; d < dim; ++d) {
        dot += double{query[d]} * vectors[i * dim + d];
      }
      EXPECT_EQ(scores[i], static_cast<float>(dot));
    }
  }
}

TEST(ScoreTest, Int8RowsThatAreNotFiniteScoreNaN) {
  constexpr int dim = 64;
  constexpr int kDocuments = 40;
  std::vector<float> query = RandomValues(dim, 4);
  RoundVector(VectorPrecision::kInt8, query);
  std::vector<float> vectors = RandomValues(kDocuments * dim, 5);
  const RowFormat format = {dim, VectorPrecision::kInt8};
  std::vector<std::byte> matrix = RoundAndEncode(format, vectors);
  const float scale = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(&matrix[7 * format.num_bytes()], &scale, sizeof(scale));
  std::vector<const std::byte*> rows;
  for (int i = 0; i < kDocuments; ++i) {
    rows.push_back(matrix.data() + i * format.num_bytes());
  }
  std::vector<float> scores(kDocuments);
  ScoreDocuments(query.data(), rows, format, scores);
  for (int i = 0; i < kDocuments; ++i) {
    EXPECT_EQ(std::isnan(scores[i]), i == 7) << i;
  }
}

}  // namespace
}  // namespace semrank
