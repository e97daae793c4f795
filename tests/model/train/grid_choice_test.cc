#include "model/train/grid_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "model/train/grid_report.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

FoldScores Scores(double first, double second) {
  return {{{first, 10}, {second, 30}}};
}

// The first setting is best on half 1, the second on half 2 and over both.
std::vector<GridRun> TwoRuns() {
  return {{"gamma=5", {Scores(0.1, 0.1), Scores(0.9, 0.2), Scores(0.8, 0.3)}},
          {"gamma=10", {Scores(0.4, 0.5), Scores(0.3, 0.8)}}};
}

TEST(GridChoiceTest, WhatIsChosenOnOneHalfIsMeasuredOnTheOther) {
  const GridChoice choice = ChooseByCrossValidation(TwoRuns());
  EXPECT_EQ(choice.chosen_on[0].run, 0u);
  EXPECT_EQ(choice.chosen_on[0].epoch, 2);
  EXPECT_EQ(choice.measured[0], (FoldScore{0.2, 30}));
  EXPECT_EQ(choice.chosen_on[1].run, 1u);
  EXPECT_EQ(choice.chosen_on[1].epoch, 2);
  EXPECT_EQ(choice.measured[1], (FoldScore{0.3, 10}));
  // Every query once: (30 x 0.2 + 10 x 0.3) / 40.
  EXPECT_DOUBLE_EQ(choice.cross_validated(), 0.225);
}

TEST(GridChoiceTest, TheWinnerIsBestOverAllQueries) {
  const GridChoice choice = ChooseByCrossValidation(TwoRuns());
  EXPECT_EQ(choice.winner.run, 1u);  // (10 x 0.3 + 30 x 0.8) / 40 = 0.675
  EXPECT_EQ(choice.winner.epoch, 2);
  EXPECT_EQ(BestEpoch(TwoRuns()[0]), 3);
}

TEST(GridChoiceTest, OfEqualSettingsTheFirstWins) {
  const std::vector<GridRun> runs = {{"a", {Scores(0.5, 0.5)}},
                                     {"b", {Scores(0.5, 0.5)}}};
  EXPECT_EQ(ChooseByCrossValidation(runs).winner.run, 0u);
}

TEST(GridChoiceTest, WhatDivergedIsNotChosen) {
  std::vector<GridRun> runs = TwoRuns();
  runs.insert(runs.begin(), {"gamma=99", {}});
  const GridChoice choice = ChooseByCrossValidation(runs);
  EXPECT_EQ(choice.winner.run, 2u);
  EXPECT_EQ(choice.chosen_on[0].run, 1u);
}

GridOutcome Outcome(EpochMeasure measure) {
  std::vector<GridRun> runs = TwoRuns();
  GridChoice choice = ChooseByCrossValidation(runs);
  return {std::move(runs), choice, measure};
}

TEST(GridReportTest, TableShowsSettingsChoicesAndWinner) {
  const std::string table = FormatGridTable(Outcome(EpochMeasure::kNdcg));
  EXPECT_THAT(table, HasSubstr("gamma=10      2     0.3000    0.8000    0.6750"
                               "   winner\n"));
  EXPECT_THAT(table, HasSubstr("chosen on half 1: gamma=5, epoch 2; ndcg@10 "
                               "on half 2: 0.2000\n"));
  EXPECT_THAT(table, HasSubstr("cross-validated ndcg@10: 0.2250\n"));
}

TEST(GridReportTest, JsonHasTheSame) {
  const std::string text = FormatGridJson(Outcome(EpochMeasure::kNdcg));
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["measure"], "ndcg@10");
  EXPECT_EQ(json["settings"].size(), 2u);
  EXPECT_EQ(json["settings"][1]["halves"][1], 0.8);
  EXPECT_EQ(json["chosen"][0]["measured"], 0.2);
  EXPECT_EQ(json["winner"]["setting"], "gamma=10");
  EXPECT_DOUBLE_EQ(json["cross_validated"], 0.225);
}

TEST(GridReportTest, LossesAreShownWithTheirOwnSign) {
  GridOutcome outcome = {
      {{"gamma=5", {Scores(-1.5, -2)}}}, {}, EpochMeasure::kLoss};
  outcome.choice = ChooseByCrossValidation(outcome.runs);
  const auto json = nlohmann::json::parse(FormatGridJson(outcome));
  EXPECT_EQ(json["measure"], "loss");
  EXPECT_EQ(json["settings"][0]["halves"][0], 1.5);
}

}  // namespace
}  // namespace semrank
