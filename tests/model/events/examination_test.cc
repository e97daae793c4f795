#include "model/events/examination.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/base/random.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

// Clicks by the position-based model on lists of ten titles, each of which is
// wanted with a probability of its own. In `explored` of the lists a random
// pair of neighbours is exchanged.
struct Simulation {
  double eta = 1;
  int num_impressions = 300'000;
  double explored = 0.3;
  int num_queries = 300;
  std::uint64_t seed = 1;
};

std::vector<ClickRow> Simulate(const Simulation& simulation) {
  constexpr std::uint32_t kTitles = 10;
  Random random(simulation.seed, RandomPurpose::kTextHash);
  ClickRows rows;
  for (int i = 0; i < simulation.num_impressions; ++i) {
    const std::uint32_t query =
        random.Below(static_cast<std::uint32_t>(simulation.num_queries));
    std::vector<std::uint32_t> titles(kTitles);
    std::iota(titles.begin(), titles.end(), 0);
    if (random.Between(0, 1) < simulation.explored) {
      const std::uint32_t k = random.Below(kTitles - 1);
      std::swap(titles[k], titles[k + 1]);
    }
    for (std::uint32_t k = 0; k < kTitles; ++k) {
      const double wanted = 0.6 / (1 + (titles[k] + query) % 5);
      const double looked_at = std::pow(k + 1, -simulation.eta);
      rows.Add(query, titles[k], k + 1,
               random.Between(0, 1) < wanted * looked_at);
    }
  }
  return rows.Sorted();
}

class ExaminationTest : public ::testing::TestWithParam<double> {};

// The tolerance is four standard errors, as the estimate states them.
TEST_P(ExaminationTest, FindsTheCurveThatMadeTheClicks) {
  ASSERT_OK_AND_ASSIGN(const ExaminationCurve curve,
                       EstimateExamination(Simulate({.eta = GetParam()}),
                                           {.monotone = GetParam() > 0}));
  ASSERT_EQ(curve.positions.size(), 10U);
  EXPECT_EQ(curve.At(1), 1);
  for (std::uint32_t k = 2; k <= 10; ++k) {
    const double expected = std::pow(k, -GetParam());
    const ExaminedPosition& position = curve.positions[k - 1];
    EXPECT_NEAR(position.examination, expected, 4 * position.standard_error)
        << k;
    EXPECT_GT(position.standard_error, 0) << k;
    EXPECT_LT(position.standard_error, 0.05) << k;
  }
}

std::string NameOfEta(const ::testing::TestParamInfo<double>& eta) {
  return absl::StrFormat("%dTenths", static_cast<int>(10 * eta.param));
}
INSTANTIATE_TEST_SUITE_P(Eta, ExaminationTest,
                         ::testing::Values(0.0, 0.5, 1.0, 2.0), NameOfEta);

// The standard error says how far estimates of other clicks are apart.
TEST(ExaminationErrorTest, MatchesTheSpreadOfEstimates) {
  constexpr int kRuns = 20;
  double sum = 0, squares = 0, error = 0;
  for (int run = 1; run <= kRuns; ++run) {
    ASSERT_OK_AND_ASSIGN(
        const ExaminationCurve curve,
        EstimateExamination(Simulate({.num_impressions = 20'000,
                                      .seed = static_cast<std::uint64_t>(run)}),
                            {.num_bootstraps = 50}));
    const double p = curve.At(5);
    sum += p / kRuns;
    squares += p * p / kRuns;
    error += curve.positions[4].standard_error / kRuns;
  }
  const double spread = std::sqrt(squares - sum * sum);
  EXPECT_NEAR(sum, 0.2, 3 * spread / std::sqrt(kRuns));
  // 20 runs know their spread to about 16 %.
  EXPECT_NEAR(error / spread, 1, 0.5);
}

// Clicks of one query, whose titles were shown 1,000 times at their own
// position and `num_moved` times at each other one, as often as `p` expects.
std::vector<ClickRow> ExpectedClicks(const std::vector<double>& p,
                                     std::uint32_t num_moved) {
  const auto size = static_cast<std::uint32_t>(p.size());
  std::vector<ClickRow> rows;
  for (std::uint32_t title = 0; title < size; ++title) {
    for (std::uint32_t k = 0; k < size; ++k) {
      const std::uint32_t shown = k == title ? 1000 : num_moved;
      const auto clicks = static_cast<std::uint32_t>(std::lround(shown * p[k]));
      rows.push_back({0, title, k + 1, clicks, shown});
    }
  }
  return rows;
}

// Without the others, positions 6 to 10 would be wrong by 20 to 40 %.
TEST(ExaminationCurveTest, PositionsWithFewClicksFollowAPowerLaw) {
  ASSERT_OK_AND_ASSIGN(
      const ExaminationCurve curve,
      EstimateExamination(Simulate({.eta = 2, .num_impressions = 200'000})));
  for (std::uint32_t k = 6; k <= 10; ++k) {
    EXPECT_NEAR(curve.At(k) * k * k, 1, 0.1) << k;
  }
}

// Users scroll rarely: where clicks show a step, it stays.
TEST(ExaminationCurveTest, ManyClicksShowWhatIsNoPowerLaw) {
  const std::vector<double> p = {1, .9, .8, .7, .2, .19, .18, .17, .16, .15};
  ASSERT_OK_AND_ASSIGN(
      const ExaminationCurve curve,
      EstimateExamination(ExpectedClicks(p, 1000),
                          {.min_changed_titles = 1, .num_bootstraps = 0}));
  for (std::uint32_t k = 2; k <= 10; ++k) {
    EXPECT_NEAR(curve.At(k) / p[k - 1], 1, 0.05) << k;
  }
}

TEST(ExaminationCurveTest, IsMonotoneAndEndsWithItsLastValue) {
  const std::vector<ClickRow> rows =
      Simulate({.eta = 0, .num_impressions = 20'000});
  ASSERT_OK_AND_ASSIGN(const ExaminationCurve curve, EstimateExamination(rows));
  for (std::uint32_t k = 2; k <= 10; ++k) {
    EXPECT_LE(curve.At(k), curve.At(k - 1));
  }
  EXPECT_EQ(curve.At(1000), curve.At(10));
}

TEST(ExaminationCurveTest, IsTheSameInEveryRun) {
  const auto rows = Simulate({.num_impressions = 20'000});
  ASSERT_OK_AND_ASSIGN(const auto first, EstimateExamination(rows));
  ASSERT_OK_AND_ASSIGN(const auto second, EstimateExamination(rows));
  for (std::size_t k = 0; k < 10; ++k) {
    EXPECT_EQ(first.positions[k].examination, second.positions[k].examination);
    EXPECT_EQ(first.positions[k].standard_error,
              second.positions[k].standard_error);
  }
}

// Positions 4 and 5 are compared with each other, but not with the first.
TEST(ExaminationCurveTest, PositionsWithoutComparisonHaveTheValueBefore) {
  std::vector<ClickRow> rows;
  for (std::uint32_t query = 0; query < 100; ++query) {
    rows.push_back({query, 1, 1, 100, 200});
    rows.push_back({query, 1, 2, 50, 200});
    rows.push_back({query, 2, 4, 50, 200});
    rows.push_back({query, 2, 5, 10, 200});
  }
  ASSERT_OK_AND_ASSIGN(const auto curve, EstimateExamination(rows));
  ASSERT_EQ(curve.positions.size(), 5U);
  EXPECT_NEAR(curve.At(2), 0.5, 1e-3);
  EXPECT_EQ(curve.At(5), curve.At(2));
  EXPECT_EQ(curve.positions[4].clicks, 0);
}

TEST(ExaminationCurveTest, TitlesThatStayAreRefusedWithTheRemedies) {
  EXPECT_THAT(EstimateExamination(Simulate({.explored = 0})),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("0 titles of a query changed")));
  EXPECT_THAT(
      EstimateExamination({}),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("--explore")));
}

}  // namespace
}  // namespace semrank
