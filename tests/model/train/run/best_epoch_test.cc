// A run publishes its best epoch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "model/format/model_bundle.h"
#include "tests/model/train/run/trainer_fixture.h"
#include "tests/model/train/train_model.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

using BestEpochTest = TrainerTest;

TEST_F(BestEpochTest, PublishesTheBestEpochNotTheLast) {
  // So large a rate that the ranking gets worse again.
  options_.optimizer.learning_rate = 0.3;
  options_.patience = 2;
  options_.epochs = 50;
  ASSERT_OK_AND_ASSIGN(const TrainingSummary summary, TrainModel(options_));
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
  ASSERT_OK_AND_ASSIGN(const TrainingSummary cut, TrainModel(options_));
  EXPECT_TRUE(Weights(cut) == weights);
}

TEST_F(BestEpochTest, HeldOutPairsGiveAValidationLoss) {
  options_.data.valid_queries.clear();
  options_.data.valid_docs.clear();
  options_.data.valid_qrels.clear();
  options_.data.valid_fraction = 0.25;
  options_.epochs = 2;
  options_.force = true;  // of nonsense nothing is learned
  ASSERT_OK_AND_ASSIGN(const TrainingSummary summary, TrainModel(options_));
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
  ASSERT_OK_AND_ASSIGN(const TrainingSummary summary, TrainModel(options_));
  EXPECT_EQ(summary.epochs_run, summary.best.epoch + 2);
  EXPECT_EQ(Log().size(), static_cast<std::size_t>(summary.epochs_run));
  for (const auto& epoch : Log()) {
    EXPECT_GE(epoch["valid_loss"], *summary.best.validation.loss);
    EXPECT_TRUE(epoch.contains("ndcg@10"));
  }
}

TEST_F(BestEpochTest, TheLastEpochOfAFallingRateIsPublishedWhateverTheLoss) {
  options_.data.valid_queries.clear();
  options_.data.valid_docs.clear();
  options_.data.valid_qrels.clear();
  options_.data.valid_fraction = 0.25;
  options_.optimizer.decay = v1::LEARNING_RATE_DECAY_COSINE;
  // So large a rate that held-out pairs soon fare worse.
  options_.optimizer.learning_rate = 0.1;
  options_.patience = 1;
  options_.epochs = 8;
  options_.force = true;
  ASSERT_OK_AND_ASSIGN(const TrainingSummary summary, TrainModel(options_));
  EXPECT_EQ(summary.epochs_run, 8);
  EXPECT_EQ(summary.best.epoch, 8);
  EXPECT_TRUE(summary.best.validation.loss.has_value());
}

TEST_F(BestEpochTest, FewPairsOfAConstantRateAreAllLearnedFrom) {
  options_.data.valid_queries.clear();
  options_.data.valid_docs.clear();
  options_.data.valid_qrels.clear();
  options_.epochs = 3;
  options_.patience = 1;
  ASSERT_OK_AND_ASSIGN(const TrainingSummary summary, TrainModel(options_));
  EXPECT_EQ(summary.best.epoch, 3);
  EXPECT_EQ(summary.best.num_pairs, 48);
  EXPECT_FALSE(summary.best.validation.loss.has_value());
}

// As when an operator removes old versions during a run.
TEST_F(BestEpochTest, WithoutTheServedModelTheWeightsStayInACheckpoint) {
  options_.epochs = 1;
  ASSERT_THAT(ResolveOptions(options_), IsOk());
  options_.publish = PublishMode::kIfBetter;
  options_.served_version_dir = options_.data.model_dir + "/1";
  options_.force = true;
  EXPECT_THAT(Train(options_).status().message(),
              AllOf(HasSubstr("holds no complete version"),
                    HasSubstr("--resume continues from")));
}

TEST_F(BestEpochTest, WithoutValidationTheLastEpochIsPublished) {
  options_.data.valid_queries.clear();
  options_.data.valid_docs.clear();
  options_.data.valid_qrels.clear();
  options_.data.valid_fraction = 0;
  options_.epochs = 3;
  options_.patience = 1;
  ASSERT_OK_AND_ASSIGN(const TrainingSummary summary, TrainModel(options_));
  EXPECT_EQ(summary.best.epoch, 3);
}

// The first word of a title is the query of the next title, but validation asks
// for its own: letters find it, and learning makes that worse.
TEST_F(BestEpochTest, WorseThanLettersAloneIsPublishedByForceOnly) {
  std::string pairs, queries;
  for (int i = 0; i < 24; ++i) {
    const int next = (i + 1) % 24;
    pairs +=
        Word(i + 200) + "\t" + Word(next + 200) + " " + Word(next + 300) + "\n";
    queries += "q" + std::to_string(i) + "\t" + Word(i + 200) + "\n";
  }
  dir_.Write("pairs.tsv", pairs);
  dir_.Write("queries.tsv", queries);
  EXPECT_THAT(TrainModel(options_),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("ranks worse than letter TF-IDF: "
                                       "NDCG@10 0."),
                             HasSubstr("against 1.0000 on 24 judged queries"),
                             HasSubstr("checkpoint.safetensors"),
                             HasSubstr("--resume --force"))));
  EXPECT_FALSE(std::filesystem::exists(options_.data.model_dir + "/1"));
  ASSERT_OK_AND_ASSIGN(
      const std::string report,
      ReadFile(options_.data.model_dir + "/report.html", 1 << 20));
  EXPECT_THAT(report,
              HasSubstr("not published: the trained model ranks worse"));

  // The next run that publishes leaves no file of the refused one behind.
  const std::string checkpoint =
      options_.data.model_dir + "/checkpoint.safetensors";
  const TempDir kept;
  std::filesystem::copy(checkpoint, kept.File("checkpoint"));
  TrainOptions other = options_;
  other.force = true;
  other.seed = 2;
  EXPECT_THAT(TrainModel(other), IsOk());
  EXPECT_FALSE(std::filesystem::exists(checkpoint));
  std::filesystem::remove_all(options_.data.model_dir);
  std::filesystem::create_directories(options_.data.model_dir);
  std::filesystem::copy(kept.File("checkpoint"), checkpoint);

  options_.checkpoint.resume = true;
  options_.force = true;
  ASSERT_OK_AND_ASSIGN(const TrainingSummary summary, TrainModel(options_));
  EXPECT_EQ(summary.version, 1);
  EXPECT_EQ(summary.epochs_run, options_.epochs);
  EXPECT_LT((*summary.best.validation.metrics)[kNdcgAt10], 1);
  EXPECT_THAT(Log(), SizeIs(0)) << "no epoch is trained again";
}

TEST_F(BestEpochTest, ARunThatCannotWriteItsReportPublishesItsModel) {
  const std::string& model_dir = options_.data.model_dir;
  std::filesystem::create_directories(model_dir + "/report.html/in_the_way");
  options_.epochs = 2;
  ASSERT_OK_AND_ASSIGN(const TrainingSummary summary, TrainModel(options_));
  EXPECT_EQ(summary.epochs_run, 2);
  EXPECT_THAT(LoadModel(model_dir), IsOk());
}

TEST_F(BestEpochTest, EachRunPublishesTheNextVersion) {
  options_.epochs = 1;
  ASSERT_OK_AND_ASSIGN(const TrainingSummary first, TrainModel(options_));
  ASSERT_OK_AND_ASSIGN(const TrainingSummary second, TrainModel(options_));
  EXPECT_EQ(first.version, 1);
  EXPECT_EQ(second.version, 2);
  EXPECT_EQ(second.version_dir, options_.data.model_dir + "/2");
}

}  // namespace
}  // namespace semrank
