// Which epoch of a run is published, and as what.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "model/format/model_bundle.h"
#include "tests/model/train/run/trainer_fixture.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using BestEpochTest = TrainerTest;

TEST_F(BestEpochTest, PublishesTheBestEpochNotTheLast) {
  // So large a rate that the ranking gets worse again.
  options_.optimizer = {v1::OPTIMIZER_ADAM, 0.3};
  options_.patience = 2;
  options_.epochs = 50;
  ASSERT_OK_AND_ASSIGN(const TrainingSummary summary, Train(options_));
  const auto log = Log();
  ASSERT_EQ(log.size(), static_cast<std::size_t>(summary.epochs_run));
  EXPECT_EQ(summary.epochs_run, summary.best.epoch + 2);
  double best = 0;
  for (const auto& epoch : log) {
    best = std::max(best, epoch["ndcg@10"].get<double>());
  }
  EXPECT_EQ((*summary.best.validation.metrics)[kNdcgAt10], best);
  ASSERT_OK_AND_ASSIGN(const auto model, LoadModel(options_.data.model_dir));
  EXPECT_EQ(model->config().training().best_epoch(),
            static_cast<std::uint32_t>(summary.best.epoch));

  // The same run, cut off after that epoch, has the same weights.
  const std::string weights = Weights(summary);
  options_.epochs = summary.best.epoch;
  ASSERT_OK_AND_ASSIGN(const TrainingSummary cut, Train(options_));
  EXPECT_TRUE(Weights(cut) == weights);
}

TEST_F(BestEpochTest, HeldOutPairsGiveAValidationLoss) {
  options_.data.valid_queries.clear();
  options_.data.valid_docs.clear();
  options_.data.valid_qrels.clear();
  options_.data.valid_fraction = 0.25;
  options_.epochs = 2;
  ASSERT_OK_AND_ASSIGN(const TrainingSummary summary, Train(options_));
  EXPECT_TRUE(summary.best.validation.loss.has_value());
  const auto log = Log();
  EXPECT_EQ(log[0]["pairs"], 36);
  EXPECT_TRUE(log[0].contains("valid_loss"));
  EXPECT_FALSE(log[0].contains("ndcg@10"));
}

TEST_F(BestEpochTest, LossCanChooseTheEpochAlthoughThereAreJudgedQueries) {
  options_.early_stopping = EpochMeasure::kLoss;
  options_.data.valid_fraction = 0.25;
  // So large a rate that held-out pairs soon fare worse.
  options_.optimizer.learning_rate = 0.1;
  options_.patience = 2;
  options_.epochs = 50;
  ASSERT_OK_AND_ASSIGN(const TrainingSummary summary, Train(options_));
  EXPECT_EQ(summary.epochs_run, summary.best.epoch + 2);
  EXPECT_EQ(Log().size(), static_cast<std::size_t>(summary.epochs_run));
  for (const auto& epoch : Log()) {
    EXPECT_GE(epoch["valid_loss"], *summary.best.validation.loss);
    EXPECT_TRUE(epoch.contains("ndcg@10"));
  }
}

TEST_F(BestEpochTest, WithoutValidationTheLastEpochIsPublished) {
  options_.data.valid_queries.clear();
  options_.data.valid_docs.clear();
  options_.data.valid_qrels.clear();
  options_.data.valid_fraction = 0;
  options_.epochs = 3;
  options_.patience = 1;
  ASSERT_OK_AND_ASSIGN(const TrainingSummary summary, Train(options_));
  EXPECT_EQ(summary.best.epoch, 3);
}

TEST_F(BestEpochTest, ARunThatCannotWriteItsLogOrReportPublishesItsModel) {
  const std::string& model_dir = options_.data.model_dir;
  std::filesystem::create_directories(model_dir + "/report.html/in_the_way");
  std::filesystem::create_symlink("/dev/full", model_dir + "/training.jsonl");
  options_.epochs = 2;
  ASSERT_OK_AND_ASSIGN(const TrainingSummary summary, Train(options_));
  EXPECT_EQ(summary.epochs_run, 2);
  EXPECT_THAT(LoadModel(model_dir), IsOk());
}

TEST_F(BestEpochTest, EachRunPublishesTheNextVersion) {
  options_.epochs = 1;
  ASSERT_OK_AND_ASSIGN(const TrainingSummary first, Train(options_));
  ASSERT_OK_AND_ASSIGN(const TrainingSummary second, Train(options_));
  EXPECT_EQ(first.version, 1);
  EXPECT_EQ(second.version, 2);
  EXPECT_EQ(second.version_dir, options_.data.model_dir + "/2");
}

}  // namespace
}  // namespace semrank
