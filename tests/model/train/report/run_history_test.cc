#include "model/train/report/run_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

RunHistory TestHistory() {
  RunHistory history;
  history.start = absl::FromUnixSeconds(1'700'000'000);
  history.lexical_weight = 1.0 / 7;
  history.before_training = ValidationResult{.loss = 2.0 / 7, .metrics = {}};
  RankerComparison& comparison = history.comparison.emplace();
  comparison.trial = true;
  comparison.num_titles = 77;
  comparison.bm25.mean[kNdcgAt3] = 0.7;
  comparison.model.emplace().standard_error[kMap] = 1.0 / 9;
  comparison.examples = {{"q", {{"t", 0.1f, true}}}};
  EpochRecord record;
  record.epoch = 1;
  record.num_pairs = 7;
  record.learning_rate = 0.7;
  record.peak_memory_bytes = std::int64_t{1} << 40;
  record.train_loss = 0.1;  // no finite binary fraction
  record.validation.loss = 1.0 / 3;
  record.validation.measure = EpochMeasure::kLoss;
  record.best = true;
  history.FinishEpoch(record);
  record.epoch = 2;
  record.validation.loss.reset();
  record.gradient_norm = 1.0 / 7;
  record.validation.metrics = MetricValues{0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
  record.validation.folds = FoldScores{{{0.1, 3}, {0.2, 2}}};
  record.best = false;
  history.FinishEpoch(record);
  history.current.num_batches = 5;
  history.current.loss = 2.0 / 3;
  history.current.weight = 80;
  history.current.gradient_norm = 0.7;
  return history;
}

TEST(RunHistoryTest, ComesBackToTheLastBit) {
  const RunHistory history = TestHistory();
  ASSERT_OK_AND_ASSIGN(const RunHistory back,
                       ParseHistory(FormatHistory(history)));
  EXPECT_EQ(back.start, history.start);
  ASSERT_TRUE(back.before_training.has_value());
  EXPECT_EQ(back.before_training->loss, 2.0 / 7);
  EXPECT_FALSE(back.before_training->metrics);
  ASSERT_TRUE(back.comparison.has_value());
  EXPECT_TRUE(back.comparison->trial);
  EXPECT_EQ(back.comparison->num_titles, 77u);
  EXPECT_EQ(back.comparison->bm25.mean[kNdcgAt3], 0.7);
  EXPECT_EQ(back.comparison->model->standard_error[kMap], 1.0 / 9);
  EXPECT_FALSE(back.comparison->start);
  ASSERT_EQ(back.comparison->examples.size(), 1u);
  EXPECT_EQ(back.comparison->examples[0].query, "q");
  ASSERT_EQ(back.comparison->examples[0].titles.size(), 1u);
  EXPECT_EQ(back.comparison->examples[0].titles[0].title, "t");
  EXPECT_EQ(back.comparison->examples[0].titles[0].score, 0.1f);
  EXPECT_TRUE(back.comparison->examples[0].titles[0].relevant);
  EXPECT_EQ(back.epoch(), 3);
  EXPECT_EQ(back.current.num_batches, 5);
  EXPECT_EQ(back.current.loss, history.current.loss);
  EXPECT_EQ(back.current.weight, history.current.weight);
  EXPECT_EQ(back.current.gradient_norm, 0.7);
  ASSERT_EQ(back.epochs.size(), 2u);
  EXPECT_EQ(back.epochs[0].epoch, 1);
  EXPECT_EQ(back.epochs[0].learning_rate, 0.7);
  EXPECT_EQ(back.epochs[0].peak_memory_bytes, std::int64_t{1} << 40);
  EXPECT_EQ(back.epochs[0].train_loss, 0.1);
  EXPECT_EQ(back.epochs[0].validation.loss, 1.0 / 3);
  EXPECT_EQ(back.epochs[0].validation.measure, EpochMeasure::kLoss);
  EXPECT_FALSE(back.epochs[0].validation.metrics);
  EXPECT_TRUE(back.epochs[0].best);
  EXPECT_FALSE(back.epochs[0].gradient_norm);
  EXPECT_EQ(back.epochs[1].gradient_norm, 1.0 / 7);
  EXPECT_EQ(back.epochs[1].validation.metrics,
            history.epochs[1].validation.metrics);
  EXPECT_EQ(back.epochs[1].validation.folds,
            history.epochs[1].validation.folds);
  EXPECT_FALSE(back.epochs[1].best);
}

TEST(RunHistoryTest, LossesOfWeightsThatDivergedComeBack) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  RunHistory history = TestHistory();
  history.epochs[0].validation.loss = std::nan("");
  history.epochs[1].validation.loss = kInfinity;
  history.epochs[1].validation.metrics->fill(std::nan(""));
  history.epochs[1].validation.folds =
      FoldScores{{{-kInfinity, 3}, {std::nan(""), 2}}};
  ASSERT_OK_AND_ASSIGN(const RunHistory back,
                       ParseHistory(FormatHistory(history)));
  EXPECT_TRUE(std::isnan(*back.epochs[0].validation.loss));
  EXPECT_EQ(back.epochs[1].validation.loss, kInfinity);
  EXPECT_TRUE(std::isnan((*back.epochs[1].validation.metrics)[kNdcgAt10]));
  EXPECT_EQ((*back.epochs[1].validation.folds)[0].score, -kInfinity);
  EXPECT_TRUE(std::isnan((*back.epochs[1].validation.folds)[1].score));
}

TEST(RunHistoryTest, OtherTextIsRefused) {
  for (const char* text :
       {"", "{", "[]", "3", "{}", R"({"start":1})",
        R"({"start":1,"epochs":[{}],"num_batches":0,"num_pairs":0,)"
        R"("loss_sum":0,"weight":0,"gradient_norm_sum":0,"seconds":0})",
        R"({"start":1,"epochs":[],"num_batches":-1,"num_pairs":0,)"
        R"("loss_sum":0,"weight":0,"gradient_norm_sum":0,"seconds":0})"}) {
    EXPECT_THAT(ParseHistory(text),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << text;
  }
}

}  // namespace
}  // namespace semrank
