// --lexical: the weight of the lexical part, given or fitted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "absl/strings/str_format.h"
#include "model/format/model_bundle.h"
#include "model/train/run/train.h"
#include "model/train/validation/lexical_fit.h"
#include "tests/model/train/run/trainer_fixture.h"
#include "tests/model/train/train_model.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

// Each query shares one of its two words with its title.
class LexicalWeightTest : public TrainerTest {
 protected:
  LexicalWeightTest() {
    std::string pairs;
    for (int i = 0; i < 200; ++i) {
      pairs += absl::StrFormat("%s %s\t%s %s\n", Word(i), Word(i % 20 + 1000),
                               Word(i), Word(i % 20 + 2000));
    }
    options_.data.train_files = {dir_.Write("named.tsv", pairs)};
    options_.data.valid_queries.clear();
    options_.data.valid_docs.clear();
    options_.data.valid_qrels.clear();
    options_.data.valid_fraction = 0;
    options_.epochs = 4;
  }

  v1::ModelConfig Published() {
    const auto model = LoadModel(options_.data.model_dir);
    EXPECT_THAT(model, IsOk());
    return model.ok() ? (*model)->config() : v1::ModelConfig();
  }
};

// Every second title has two queries, so about a third of the held-out pairs
// have a known title.
TEST_F(LexicalWeightTest, CountsKnownAndNewTitlesAsTheCatalogueHasThem) {
  std::string pairs, known, unknown;
  for (int i = 0; i < 300; ++i) {
    const std::string title = Word(i) + " " + Word(i % 20 + 2000);
    pairs +=
        absl::StrFormat("%s %s\t%s\n", Word(i), Word(i % 20 + 1000), title);
    if (i % 2 == 0) pairs += Word(i + 5000) + "\t" + title + "\n";
    known += absl::StrFormat("%d\t%s\n", i, title);
    unknown += absl::StrFormat("%d\t%s\n", i, Word(i + 7000));
  }
  options_.data.train_files = {dir_.Write("popular.tsv", pairs)};
  options_.features.lexical = "auto";
  options_.force = true;  // the letters of so few titles are hard to beat
  const auto weight = [&](const std::string& docs) {
    options_.data.docs_file = dir_.Write("docs.tsv", docs);
    EXPECT_THAT(TrainModel(options_).status(), IsOk());
    return Published().lexical().weight();
  };
  const double for_known = weight(known);
  EXPECT_LT(for_known, weight(unknown));
}

TEST_F(LexicalWeightTest, IsFittedAndTheModelIsThenTrainedOnAllPairs) {
  options_.features.lexical = "auto";
  std::string weights;
  for (const int threads : {1, 3}) {
    options_.threads = threads;
    ASSERT_OK_AND_ASSIGN(const TrainingSummary summary, TrainModel(options_));
    if (weights.empty()) weights = Weights(summary);
    EXPECT_TRUE(Weights(summary) == weights) << threads << " threads";
  }
  const v1::ModelConfig fitted = Published();
  EXPECT_EQ(fitted.format_version(), 2u);
  EXPECT_GT(fitted.lexical().weight(), 0.1);
  EXPECT_LT(fitted.lexical().weight(), 1);
  EXPECT_EQ(fitted.training().num_pairs(), 200);

  options_.features.lexical =
      absl::StrFormat("%.17g", fitted.lexical().weight());
  ASSERT_OK_AND_ASSIGN(const TrainingSummary given, TrainModel(options_));
  EXPECT_EQ(Published().lexical().weight(), fitted.lexical().weight());
  EXPECT_TRUE(Weights(given) == weights);
}

TEST_F(LexicalWeightTest, NoneAndZeroLeaveTheTowerAlone) {
  for (const char* none : {"none", "0"}) {
    options_.features.lexical = none;
    ASSERT_OK_AND_ASSIGN(const TrainingSummary summary, TrainModel(options_));
    EXPECT_FALSE(Published().has_lexical());
    EXPECT_EQ(Published().format_version(), 1u);
  }
}

TEST_F(LexicalWeightTest, TooFewPairsForAFitLeaveTheRankingToLetters) {
  options_.data.train_files = {dir_.Write("few.tsv", "a\tb\nc\td\n")};
  options_.features.lexical = "auto";
  ASSERT_OK_AND_ASSIGN(const TrainingSummary summary, TrainModel(options_));
  EXPECT_EQ(Published().lexical().weight(), LexicalPrior().weight);
  EXPECT_FALSE(summary.comparison.has_value());
}

TEST_F(LexicalWeightTest, TheTrialSaysHowWellUnknownQueriesAreRanked) {
  options_.features.lexical = "auto";
  ASSERT_OK_AND_ASSIGN(const TrainingSummary summary, TrainModel(options_));
  ASSERT_TRUE(summary.comparison.has_value());
  EXPECT_TRUE(summary.comparison->trial);
  EXPECT_EQ(summary.comparison->num_queries, 50u);  // a quarter
  EXPECT_EQ(summary.comparison->num_titles, 200u);
  EXPECT_GT(summary.comparison->model->mean[kNdcgAt10], 0.9);
  EXPECT_GT(summary.comparison->letter_tfidf.mean[kNdcgAt10], 0.9);
  EXPECT_EQ(summary.best.num_pairs, 200);
}

TEST_F(LexicalWeightTest, OfAStreamIsFittedOnItsHeldOutPairs) {
  std::string pairs;
  for (int i = 0; i < 4000; ++i) {
    pairs += absl::StrFormat("%s %s\t%s %s\n", Word(i), Word(i % 20 + 10000),
                             Word(i), Word(i % 20 + 20000));
  }
  options_.data.train_files = {dir_.Write("stream.tsv", pairs)};
  options_.data.memory_limit = 300'000;
  options_.features.hash_buckets = 200;
  options_.features.lexical = "auto";
  ASSERT_OK_AND_ASSIGN(const TrainingSummary summary, TrainModel(options_));
  EXPECT_GT(Published().lexical().weight(), 0.1);
  EXPECT_LT(Published().training().num_pairs(), 4000);
}

TEST_F(LexicalWeightTest, AResumedRunComparesWithTheSameStart) {
  ASSERT_OK_AND_ASSIGN(const TrainingSummary start, TrainModel(options_));
  ASSERT_OK_AND_ASSIGN(const auto model, LoadModel(options_.data.model_dir));
  options_.features.given =
      std::make_shared<const Featurizer>(model->featurizer());
  options_.initial_model = {.version_dir = start.version_dir,
                            .weights_sha256 = model->version().weights_sha256};
  options_.features.lexical = "auto";
  options_.data.valid_fraction = 0.25;
  options_.data.judge_fraction = 0.2;
  options_.checkpoint.batches = 1;
  options_.force = true;
  options_.epochs = 1;
  const auto train = [this](const char* model_dir) {
    options_.data.model_dir = dir_.File(model_dir);
    return TrainModel(options_);
  };
  ASSERT_OK_AND_ASSIGN(const TrainingSummary whole, train("models/whole"));
  ASSERT_OK_AND_ASSIGN(const auto fitted, LoadModel(options_.data.model_dir));
  ASSERT_GT(fitted->config().lexical().weight(), 0);

  // The run fails when its epoch is to be judged.
  options_.publish = PublishMode::kIfBetter;
  options_.served_version_dir = dir_.File("none/1");
  EXPECT_THAT(train("models/shop"), StatusIs(absl::StatusCode::kNotFound));
  options_.publish = PublishMode::kAlways;
  options_.checkpoint.resume = true;
  ASSERT_OK_AND_ASSIGN(const TrainingSummary resumed, train("models/shop"));
  ASSERT_TRUE(whole.comparison && whole.comparison->start);
  ASSERT_TRUE(resumed.comparison && resumed.comparison->start);
  EXPECT_EQ(resumed.comparison->start->mean, whole.comparison->start->mean);
}

}  // namespace
}  // namespace semrank
