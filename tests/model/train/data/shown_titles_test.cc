#include "model/train/data/shown_titles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/data/text_pairs.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t kNumTexts = 20;

TEST(ShownTitlesTest, FewerClicksAreNegatives) {
  const ShownTitles shown(
      {{1, 10, 5, 0}, {1, 11, 0, 0}, {1, 12, 2, 0}, {1, 13, 5, 0}}, {},
      kNumTexts);
  EXPECT_THAT(shown.Below(1, 10), ElementsAre(11, 12));
  EXPECT_THAT(shown.Below(1, 12), ElementsAre(11));
  EXPECT_THAT(shown.Below(1, 11), IsEmpty());
  EXPECT_THAT(shown.Below(2, 10), IsEmpty());
}

TEST(ShownTitlesTest, LinesOfOnePairAreAddedUp) {
  const ShownTitles shown(
      {{1, 10, 2, 0}, {1, 11, 1, 0}, {1, 11, 2, 0}, {1, 10, 0, 0}}, {},
      kNumTexts);
  EXPECT_THAT(shown.Below(1, 11), ElementsAre(10));
}

// The rate of the log is 62 / 1130. The smoothed rate of 10 is 0.0495, of 11
// 0.0689, of 12 0.0274, and of 13, with one click of ten impressions, 0.0774.
TEST(ShownTitlesTest, ImpressionsTurnClicksIntoSmoothedRates) {
  const ShownTitles shown(
      {{1, 10, 49, 1000}, {1, 11, 12, 110}, {1, 12, 0, 10}, {1, 13, 1, 10}}, {},
      kNumTexts);
  EXPECT_THAT(shown.Below(1, 11), ElementsAre(12, 10, 13));
  EXPECT_THAT(shown.Below(1, 13), ElementsAre(12, 10));
  EXPECT_THAT(shown.Below(1, 10), ElementsAre(12));
}

TEST(ShownTitlesTest, OneTitleWithoutImpressionsMakesItClicks) {
  const ShownTitles shown({{1, 10, 3, 1000}, {1, 11, 2, 2}, {1, 12, 1, 0}}, {},
                          kNumTexts);
  EXPECT_THAT(shown.Below(1, 10), ElementsAre(12, 11));
}

TEST(ShownTitlesTest, JudgedQueriesGoByGradeAlone) {
  const ShownTitles shown(
      {{1, 10, 9, 0}, {1, 11, 0, 0}, {2, 10, 1, 0}, {2, 12, 0, 0}},
      {{1, 13, 0}, {1, 14, 1}, {1, 15, 2}, {1, 14, 0}}, kNumTexts);
  EXPECT_THAT(shown.Below(1, 15), ElementsAre(13, 14));
  EXPECT_THAT(shown.Below(1, 14), ElementsAre(13));
  // A clicked title that was not judged has grade 1.
  EXPECT_THAT(shown.Below(1, 10), ElementsAre(13));
  EXPECT_THAT(shown.Of(1), ElementsAre(13, 14, 15));
  EXPECT_THAT(shown.Below(2, 10), ElementsAre(12));
}

// Takes minutes if each pair searches its title from the first one on.
TEST(ShownTitlesTest, AQueryMayHaveManyTitles) {
  constexpr TextId kMany = 300'000;
  std::vector<ShownTitle> lines;
  for (TextId title = 1; title < kMany; ++title) {
    lines.push_back({0, title, static_cast<double>(title % 1000), 0});
  }
  const ShownTitles shown(lines, {}, kMany);
  for (TextId title = 1; title < kMany; ++title) {
    ASSERT_EQ(shown.Below(0, title).size(),
              title % 1000 * (kMany / 1000) - (title % 1000 > 0 ? 1 : 0));
  }
}

class ReadShownTitlesTest : public ::testing::Test {
 protected:
  absl::StatusOr<ShownTitles> Read(std::string_view content) {
    return ReadShownTitles({}, dir_.Write("judged.tsv", content), bad_lines_,
                           texts_);
  }

  TempDir dir_;
  BadLines bad_lines_{3};
  TextInterner texts_;
};

TEST_F(ReadShownTitlesTest, ReadsNormalisedTextsAndGrades) {
  ASSERT_OK_AND_ASSIGN(const ShownTitles shown,
                       Read("Q!\tgood\t2\nq\tbad\t0\nq\tno grade\nq\tx\tA\n"));
  EXPECT_THAT(shown.Below(texts_.Intern("q"), texts_.Intern("good")),
              ElementsAre(texts_.Intern("bad")));
  EXPECT_EQ(bad_lines_.count(), 2);
}

TEST_F(ReadShownTitlesTest, NoJudgementIsAnError) {
  EXPECT_THAT(Read("q\tt\n"), StatusIs(absl::StatusCode::kInvalidArgument,
                                       HasSubstr("judged.tsv")));
}

TEST_F(ReadShownTitlesTest, PairsWithoutAnyHardNegativeAreAnError) {
  const std::vector<TextPair> pairs = {{1, 10}};
  EXPECT_THAT(
      CheckShownTitles({}, pairs),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--judged")));
  const ShownTitles shown({{1, 10, 1, 0}, {1, 11, 0, 0}}, {}, kNumTexts);
  EXPECT_THAT(CheckShownTitles(shown, pairs), IsOk());
}

}  // namespace
}  // namespace semrank
