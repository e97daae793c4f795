// The same work at every level of the processor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "model/base/simd_level.h"
#include "model/nn/cosine_scorer.h"
#include "model/nn/dssm_tower.h"
#include "model/nn/kernels.h"
#include "model/nn/lexical_query.h"
#include "model/nn/row_bounds.h"
#include "model/nn/split_rows.h"
#include "tests/model/nn/random_tower.h"
#include "tests/model/nn/random_values.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::ElementsAreArray;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

// Between levels, of vectors of length 1 and of their products.
constexpr float kTolerance = 1e-6f;
// Where layers round their inputs to eight bits, a difference of 1e-7 can
// become one of a 127th of the largest.
constexpr float kInt8Tolerance = 1e-3f;

class SimdLevelsTest : public ::testing::Test {
 protected:
  ~SimdLevelsTest() override { EXPECT_THAT(UseSimdLevel(level_), IsOk()); }

  // compute() at each level, best first.
  static std::vector<std::vector<float>> AtEachLevel(
      const std::function<std::vector<float>()>& compute) {
    std::vector<std::vector<float>> results;
    for (const std::string_view level : SupportedSimdLevels()) {
      EXPECT_THAT(UseSimdLevel(level), IsOk());
      EXPECT_EQ(SimdLevel(), level);
      results.push_back(compute());
      EXPECT_THAT(compute(), ElementsAreArray(results.back())) << level;
    }
    return results;
  }

 private:
  const std::string level_{SimdLevel()};
};

TEST_F(SimdLevelsTest, UnknownLevelIsRefusedAndNothingChanges) {
  const std::string before(SimdLevel());
  for (const char* name : {"", "v5", "avx2", "V3"}) {
    EXPECT_THAT(UseSimdLevel(name),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr(std::string(SupportedSimdLevels().back()))));
  }
  EXPECT_EQ(SimdLevel(), before);
}

class DssmLevelsTest : public SimdLevelsTest,
                       public ::testing::WithParamInterface<VectorPrecision> {};

TEST_P(DssmLevelsTest, DssmVectorsAreNearlyTheSame) {
  const RandomWeights weights({500, 300, 300, 128}, 1);
  const BagBatch bags = RandomBags(40, 500, 2);
  const auto results = AtEachLevel([&] {
    // Weights are packed for the level.
    const auto tower = DssmTower::Create(weights.layers, Activation::kTanh,
                                         nullptr, GetParam());
    EXPECT_THAT(tower, IsOk());
    TowerScratch scratch;
    std::vector<float> vectors(bags.num_texts() * 128);
    (*tower)->Embed({.bags = bags, .sequences = {}}, scratch, vectors.data());
    return vectors;
  });
  const float tolerance =
      GetParam() == VectorPrecision::kFloat32 ? kTolerance : kInt8Tolerance;
  for (const auto& vectors : results) {
    EXPECT_THAT(vectors, Pointwise(FloatNear(tolerance), results[0]));
  }
}

INSTANTIATE_TEST_SUITE_P(Precisions, DssmLevelsTest,
                         ::testing::Values(VectorPrecision::kFloat32,
                                           VectorPrecision::kInt8));

TEST_F(SimdLevelsTest, ScoresAreNearlyTheSame) {
  constexpr int kWidth = 203, kDocuments = 31;
  std::vector<float> query = RandomValues(kWidth, 1);
  std::vector<float> documents = RandomValues(kWidth * kDocuments, 2);
  NormalizeRows(1, kWidth, query.data());
  NormalizeRows(kDocuments, kWidth, documents.data());
  const auto results = AtEachLevel([&] {
    std::vector<float> scores(kDocuments);
    ScoreMatrix(query.data(), documents.data(), kWidth, scores);
    return scores;
  });
  for (const auto& scores : results) {
    EXPECT_THAT(scores, Pointwise(FloatNear(kTolerance), results[0]));
  }
}

// Sums of integers, of which only the last product and sum are rounded.
TEST_F(SimdLevelsTest, BoundsAreNearlyTheSame) {
  constexpr int kWidth = 203, kRows = 31;
  constexpr std::size_t kRowBytes = NumCodeBytes(kWidth);
  std::vector<float> query = RandomValues(kWidth, 1);
  std::vector<float> rows = RandomValues(kWidth * kRows, 2);
  NormalizeRows(1, kWidth, query.data());
  NormalizeRows(kRows, kWidth, rows.data());
  const auto results = AtEachLevel([&] {
    std::vector<std::uint8_t> codes(kRows * kRowBytes);
    std::vector<RowScale> scales(kRows);
    for (int i = 0; i < kRows; ++i) {
      scales[i] = QuantizeRow(std::span(rows).subspan(i * kWidth, kWidth),
                              &codes[i * kRowBytes]);
    }
    BoundQuery prepared;
    prepared.Prepare(query);
    std::vector<float> bounds(kRows);
    prepared.Bound(codes.data(), scales.data(), bounds);
    return bounds;
  });
  for (const auto& bounds : results) {
    EXPECT_THAT(bounds, Pointwise(FloatNear(kTolerance), results[0]));
  }
}

// Sums of integers, so equal to the bit.
TEST_F(SimdLevelsTest, ScoresOfSplitRowsAreTheSame) {
  constexpr int kWidth = 203, kRows = 31;
  constexpr std::size_t kRowBytes = NumCodeBytes(kWidth);
  std::vector<float> query = RandomValues(kWidth, 1);
  RoundVector(VectorPrecision::kInt8, query);
  const auto results = AtEachLevel([&] {
    std::vector<std::uint8_t> codes(kRows * kRowBytes),
        remainders(codes.size());
    std::vector<RowScale> scales(kRows);
    std::vector<SplitRow> rows;
    for (std::size_t i = 0; i < kRows; ++i) {
      std::vector<float> row = RandomValues(kWidth, 2 + i);
      RoundVector(VectorPrecision::kInt8, row);
      const std::size_t first = i * kRowBytes;
      scales[i] = SplitIntoCodes(row, &codes[first], &remainders[first]);
      rows.push_back({&codes[first], &remainders[first], &scales[i]});
    }
    BoundQuery prepared;
    prepared.Prepare(query);
    std::vector<float> scores(kRows);
    ScoreSplitRows(prepared, query, rows, scores);
    return scores;
  });
  for (const auto& scores : results) EXPECT_EQ(scores, results[0]);
}

// Sums of integers, so equal to the bit.
TEST_F(SimdLevelsTest, LexicalCosinesAreTheSame) {
  std::vector<std::vector<LexicalEntry>> texts;
  for (std::uint16_t size = 0; size < 90; size += 7) {
    texts.emplace_back();
    for (std::uint16_t i = 0; i < size; ++i) {
      texts.back().push_back({static_cast<std::uint16_t>(i * (size % 5 + 1)),
                              static_cast<std::uint16_t>(3000 / (i + 1))});
    }
  }
  const auto results = AtEachLevel([&] {
    LexicalQuery query;
    std::vector<float> cosines;
    for (const auto& prepared : texts) {
      query.Prepare(prepared);
      for (const auto& text : texts) cosines.push_back(query.Cosine(text));
    }
    return cosines;
  });
  for (const auto& cosines : results) EXPECT_EQ(cosines, results[0]);
}

}  // namespace
}  // namespace semrank
