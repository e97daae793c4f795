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

// The expected values were calculated by hand from the formulas; doubles, so
// what is left is rounding.
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

TEST(RankingTuplesTest, TiedTuplesAreHalfWrong) {
  // Two relevant documents and three others share ranks 2 to 6 of 6.
  const RankingTuples tuples =
      CountRankingTuples({{{2, 1, 5, 0}, {2, 1, 5, 3}}}, 0, 6);
  EXPECT_EQ(tuples.wrong, 2 * (1 + 1.5));
  EXPECT_EQ(tuples.total, 8);
}

TEST(RankingTuplesTest, MissingDocumentsAreBelowAll) {
  const RankingTuples tuples = CountRankingTuples({{{2, 1}}}, 2, 5);
  EXPECT_EQ(tuples.wrong, 1 + 2 * 4);
  EXPECT_EQ(tuples.total, 3 * 4);
}

// The mean of each metric over all orders of `grades` that keep
// `scores` falling.
MetricValues MeanOverOrders(const std::vector<float>& scores,
                            const std::vector<int>& grades) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  MetricValues sum{};
  int num_orders = 0;
  do {
    const bool falls =
        std::is_sorted(order.begin(), order.end(),
                       [&](auto a, auto b) { return scores[a] > scores[b]; });
    if (!falls) continue;
    std::vector<RankedGrade> relevant;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto rank = static_cast<std::int64_t>(i + 1);
      if (grades[order[i]] >= 1) relevant.push_back({rank, grades[order[i]]});
    }
    const MetricValues values =
        ComputeMetrics(relevant, {{2}}, Gain::kExponential);
    for (int m = 0; m < kNumMetrics; ++m) sum[m] += values[m];
    ++num_orders;
  } while (std::next_permutation(order.begin(), order.end()));
  for (double& value : sum) value /= num_orders;
  return sum;
}

TEST(TiesTest, EachMetricIsItsMeanOverAllOrders) {
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    std::vector<float> scores(7);
    std::vector<int> grades(7);
    std::vector<GradedPosition> relevant;
    for (std::uint32_t d = 0; d < 7; ++d) {
      scores[d] = static_cast<float>(random() % 3);
      grades[d] = std::max(0, static_cast<int>(random() % 5) - 1);
      if (grades[d] >= 1) relevant.push_back({d, grades[d]});
    }
    const MetricValues want = MeanOverOrders(scores, grades);
    const MetricValues got = ComputeMetrics(RankRelevant(scores, relevant),
                                            {{2}}, Gain::kExponential);
    for (int m = 0; m < kNumMetrics; ++m) {
      EXPECT_NEAR(got[m], want[m], kMetricTolerance) << kMetricNames[m];
    }
  }
}

TEST(TiesTest, AllTiedHasTheValueOfARandomOrder) {
  // One relevant document among 1,000: each rank has probability 1 / 1000.
  double harmonic = 0;
  for (int rank = 1; rank <= 1000; ++rank) harmonic += 1.0 / rank;
  const MetricValues values =
      ComputeMetrics({{{1, 1, 1000, 0}}}, {}, Gain::kLinear);
  EXPECT_NEAR(values[kMrr], harmonic / 1000, kMetricTolerance);
  EXPECT_NEAR(values[kMap], harmonic / 1000, kMetricTolerance);
  EXPECT_NEAR(values[kNdcgAt1], 1.0 / 1000, kMetricTolerance);
  EXPECT_NEAR(values[kPAt10], 0.1 * 10 / 1000, kMetricTolerance);
}

TEST(TiesTest, MatterOnlyBetweenDifferentGrades) {
  EXPECT_FALSE(TiesMatter({{{1, 1}, {2, 3}}}));
  EXPECT_FALSE(TiesMatter({{{1, 2, 2, 0}, {1, 2, 2, 1}}}));
  EXPECT_TRUE(TiesMatter({{{1, 2, 2, 0}, {1, 1, 2, 1}}}));
  EXPECT_TRUE(TiesMatter({{{1, 2, 3, 0}, {1, 2, 3, 1}}}));
}

using Ranks = std::vector<std::pair<std::int64_t, int>>;

Ranks RanksOf(const std::vector<float>& scores,
              const std::vector<GradedPosition>& relevant) {
  std::vector<RankedGrade> ranked = RankRelevant(scores, relevant);
  BreakTies(ranked);
  Ranks ranks;
  for (const RankedGrade& document : ranked) {
    ranks.emplace_back(document.rank, document.grade);
  }
  return ranks;
}

TEST(RelevantRanksTest, RanksByDescendingScore) {
  EXPECT_THAT(RanksOf({0.1f, 0.9f, 0.5f, -0.2f}, {{0, 1}, {1, 2}, {3, 3}}),
              ElementsAre(Pair(1, 2), Pair(3, 1), Pair(4, 3)));
}

TEST(RelevantRanksTest, TiedDocumentsShareTheirRanks) {
  const std::vector<GradedPosition> relevant = {{3, 1}, {1, 2}};
  const std::vector<RankedGrade> ranked =
      RankRelevant(std::vector<float>{0, 0, 0, 0, 1}, relevant);
  ASSERT_EQ(ranked.size(), 2u);
  EXPECT_EQ(ranked[0].rank, 2);
  EXPECT_EQ(ranked[0].grade, 2);
  EXPECT_EQ(ranked[1].rank, 2);
  EXPECT_EQ(ranked[1].tied, 4);
  EXPECT_EQ(ranked[1].tied_before, 3);
}

TEST(RelevantRanksTest, ScoresThatAreNoNumbersRankNothing) {
  const float nan = std::nanf("");
  EXPECT_THAT(RanksOf({nan, -nan, 2, 1}, {{0, 3}, {1, 1}, {3, 2}}),
              ElementsAre(Pair(2, 2)));
}

TEST(RelevantRanksTest, NotRankedDocumentsAreOmitted) {
  EXPECT_THAT(RanksOf({kNotRanked, 1, 2}, {{0, 3}, {1, 2}}),
              ElementsAre(Pair(2, 2)));
}

TEST(RelevantRanksTest, BrokenTiesKeepTheOrderOfThePositions) {
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
