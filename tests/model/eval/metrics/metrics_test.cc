#include "model/eval/metrics/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::Pair;

// Worked by hand or with a calculator from the formulas; doubles, so what is
// left is rounding.
constexpr double kMetricTolerance = 1e-12;

constexpr double kLog2Of3 = 1.5849625007211562;
constexpr double kLog2Of5 = 2.321928094887362;

TEST(MetricsTest, PerfectRankingOfGradesIsOne) {
  const std::vector<RankedGrade> relevant = {{1, 4}, {2, 2}, {3, 1}};
  for (Gain gain : {Gain::kExponential, Gain::kLinear}) {
    const MetricValues values = ComputeMetrics(relevant, {}, gain);
    EXPECT_DOUBLE_EQ(values[kNdcgAt1], 1);
    EXPECT_DOUBLE_EQ(values[kNdcgAt3], 1);
    EXPECT_DOUBLE_EQ(values[kNdcgAt10], 1);
    EXPECT_DOUBLE_EQ(values[kMap], 1);
    EXPECT_DOUBLE_EQ(values[kMrr], 1);
    EXPECT_DOUBLE_EQ(values[kPAt10], 0.3);
  }
}

TEST(MetricsTest, GradedNdcgWithExponentialGain) {
  // Ranking by grade: 1, 0, 0, 3, 2; gains 1, -, -, 7, 3.
  const std::vector<RankedGrade> relevant = {{1, 1}, {4, 3}, {5, 2}};
  const MetricValues values = ComputeMetrics(relevant, {}, Gain::kExponential);
  const double ideal3 = 7 + 3 / kLog2Of3 + 1 / 2.0;
  const double dcg10 = 1 + 7 / kLog2Of5 + 3 / std::log2(6.0);
  EXPECT_NEAR(values[kNdcgAt1], 1 / 7.0, kMetricTolerance);
  EXPECT_NEAR(values[kNdcgAt3], 1 / ideal3, kMetricTolerance);
  EXPECT_NEAR(values[kNdcgAt10], dcg10 / ideal3, kMetricTolerance);
}

TEST(MetricsTest, GradedNdcgWithLinearGain) {
  const std::vector<RankedGrade> relevant = {{1, 1}, {4, 3}, {5, 2}};
  const MetricValues values = ComputeMetrics(relevant, {}, Gain::kLinear);
  const double ideal3 = 3 + 2 / kLog2Of3 + 1 / 2.0;
  const double dcg10 = 1 + 3 / kLog2Of5 + 2 / std::log2(6.0);
  EXPECT_NEAR(values[kNdcgAt1], 1 / 3.0, kMetricTolerance);
  EXPECT_NEAR(values[kNdcgAt3], 1 / ideal3, kMetricTolerance);
  EXPECT_NEAR(values[kNdcgAt10], dcg10 / ideal3, kMetricTolerance);
}

TEST(MetricsTest, BinaryMeasuresOfAKnownRanking) {
  const std::vector<RankedGrade> relevant = {{2, 1}, {5, 3}, {20, 1}};
  const MetricValues values = ComputeMetrics(relevant, {}, Gain::kExponential);
  EXPECT_NEAR(values[kMap], (1 / 2.0 + 2 / 5.0 + 3 / 20.0) / 3,
              kMetricTolerance);
  EXPECT_NEAR(values[kMrr], 0.5, kMetricTolerance);
  EXPECT_NEAR(values[kPAt10], 0.2, kMetricTolerance);
}

TEST(MetricsTest, MissingDocumentsLowerNdcgAndMap) {
  const std::vector<RankedGrade> relevant = {{1, 1}};
  const std::vector<int> missing = {2};
  const MetricValues values = ComputeMetrics(relevant, missing, Gain::kLinear);
  EXPECT_NEAR(values[kNdcgAt1], 0.5, kMetricTolerance);
  EXPECT_NEAR(values[kNdcgAt10], 1 / (2 + 1 / kLog2Of3), kMetricTolerance);
  EXPECT_NEAR(values[kMap], 0.5, kMetricTolerance);
  EXPECT_NEAR(values[kMrr], 1, kMetricTolerance);
}

TEST(MetricsTest, NothingRankedIsZeroEverywhere) {
  const std::vector<int> missing = {1, 3};
  EXPECT_EQ(ComputeMetrics({}, missing, Gain::kExponential), MetricValues{});
}

TEST(MetricsTest, IdealStopsAtTheCutOff) {
  // Twelve relevant documents, ten of them in the first ten places.
  std::vector<RankedGrade> relevant;
  for (int i = 1; i <= 12; ++i) relevant.push_back({i, 1});
  const MetricValues values = ComputeMetrics(relevant, {}, Gain::kLinear);
  EXPECT_DOUBLE_EQ(values[kNdcgAt3], 1);
  EXPECT_DOUBLE_EQ(values[kNdcgAt10], 1);
  EXPECT_DOUBLE_EQ(values[kPAt10], 1);
}

TEST(MetricsTest, SummaryHasMeanAndStandardError) {
  MetricValues low{}, high{};
  low[kMap] = 0.2;
  high[kMap] = 0.6;
  const std::vector<MetricValues> values = {low, high, low, high};
  const MetricSummary summary = Summarize(values);
  EXPECT_NEAR(summary.mean[kMap], 0.4, kMetricTolerance);
  // Sample variance 4 x 0.04 / 3, over n = 4.
  EXPECT_NEAR(summary.standard_error[kMap], std::sqrt(0.16 / 3 / 4),
              kMetricTolerance);
  EXPECT_EQ(summary.mean[kMrr], 0);
}

TEST(MetricsTest, OneQueryHasNoStandardError) {
  MetricValues only{};
  only[kMrr] = 0.25;
  const MetricSummary summary = Summarize(std::vector<MetricValues>{only});
  EXPECT_EQ(summary.mean[kMrr], 0.25);
  EXPECT_EQ(summary.standard_error[kMrr], 0);
}

TEST(RankingTuplesTest, CountsCandidatesAboveRelevantDocuments) {
  // Ranks 1 and 4 of 6: the second has two others above it.
  const RankingTuples tuples = CountRankingTuples({{{1, 2}, {4, 1}}}, 0, 6);
  EXPECT_EQ(tuples.wrong, 2);
  EXPECT_EQ(tuples.total, 8);
}

TEST(RankingTuplesTest, MissingDocumentsAreBelowAll) {
  const RankingTuples tuples = CountRankingTuples({{{2, 1}}}, 2, 5);
  EXPECT_EQ(tuples.wrong, 1 + 2 * 4);
  EXPECT_EQ(tuples.total, 3 * 4);
}

using Ranks = std::vector<std::pair<std::int64_t, int>>;

Ranks RanksOf(const std::vector<float>& scores,
              const std::vector<GradedPosition>& relevant) {
  Ranks ranks;
  for (const RankedGrade& ranked : RankRelevant(scores, relevant)) {
    ranks.emplace_back(ranked.rank, ranked.grade);
  }
  return ranks;
}

TEST(RelevantRanksTest, RanksByFallingScore) {
  EXPECT_THAT(RanksOf({0.1f, 0.9f, 0.5f, -0.2f}, {{0, 1}, {1, 2}, {3, 3}}),
              ElementsAre(Pair(1, 2), Pair(3, 1), Pair(4, 3)));
}

TEST(RelevantRanksTest, TiesKeepTheOrderOfThePositions) {
  EXPECT_THAT(RanksOf({0, 0, 0, 0, 1}, {{3, 1}, {1, 2}}),
              ElementsAre(Pair(3, 2), Pair(5, 1)));
}

TEST(RelevantRanksTest, NoneRelevantIsEmpty) {
  EXPECT_TRUE(RanksOf({1, 2}, {}).empty());
}

TEST(RelevantRanksTest, AgreesWithSortingEverything) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    // Few distinct scores: many ties.
    std::vector<float> scores(1 + random() % 40);
    for (float& score : scores) score = static_cast<float>(random() % 6) - 2;
    std::vector<GradedPosition> relevant;
    for (std::uint32_t p = 0; p < scores.size(); ++p) {
      if (random() % 4 == 0) relevant.push_back({p, static_cast<int>(p) + 1});
    }
    std::vector<std::uint32_t> order(scores.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return scores[a] > scores[b]; });
    Ranks want;
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (const GradedPosition& position : relevant) {
        if (position.position == order[i]) {
          want.emplace_back(i + 1, position.grade);
        }
      }
    }
    EXPECT_THAT(RanksOf(scores, relevant), ElementsAreArray(want));
  }
}

}  // namespace
}  // namespace semrank
