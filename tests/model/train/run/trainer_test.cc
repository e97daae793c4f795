#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/base/config.h"
#include "model/format/model_bundle.h"
#include "model/train/run/train.h"
#include "tests/model/train/run/trainer_fixture.h"
#include "tests/model/train/train_model.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

#if defined(ABSL_HAVE_ADDRESS_SANITIZER) || defined(ABSL_HAVE_THREAD_SANITIZER)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

struct LearningCase {
  std::string name;
  bool shared;
  v1::NegativeSampling sampling;
  int negatives;
  v1::TowerKind tower;
};

class LearningTest : public TrainerTest,
                     public ::testing::WithParamInterface<LearningCase> {};

TEST_P(LearningTest, LearnsATinyCorpus) {
  options_.tower.shared = GetParam().shared;
  options_.tower.kind = GetParam().tower;
  options_.loss = {.sampling = GetParam().sampling,
                   .negatives = GetParam().negatives,
                   .gamma = 10};
  ASSERT_OK_AND_ASSIGN(const TrainingSummary summary, TrainModel(options_));
  const auto log = Log();
  ASSERT_EQ(log.size(), 20u);
  EXPECT_LT(log.back()["train_loss"],
            0.2 * log.front()["train_loss"].get<double>());
  EXPECT_EQ((*summary.best.validation.metrics)[kNdcgAt10], 1);
  // What was published is what was measured.
  ASSERT_OK_AND_ASSIGN(const auto model, LoadModel(options_.data.model_dir));
  EXPECT_EQ(model->config().training().validation_ndcg_at_10(), 1);
  EXPECT_EQ(model->config().name(), "tiny");
  EXPECT_EQ(model->embedding_dim(), 16);
}

constexpr auto kUniform = v1::NEGATIVE_SAMPLING_UNIFORM;
constexpr auto kInBatch = v1::NEGATIVE_SAMPLING_IN_BATCH;

INSTANTIATE_TEST_SUITE_P(
    Kinds, LearningTest,
    ::testing::Values(
        LearningCase{"SharedAllInBatch", true, kInBatch, 0,
                     v1::TOWER_KIND_DSSM},
        LearningCase{"SeparateAllInBatch", false, kInBatch, 0,
                     v1::TOWER_KIND_DSSM},
        LearningCase{"SharedRotations", true, kInBatch, 4, v1::TOWER_KIND_DSSM},
        LearningCase{"SeparateUniform", false, kUniform, 4,
                     v1::TOWER_KIND_DSSM},
        LearningCase{"SharedLinear", true, kInBatch, 0, v1::TOWER_KIND_LINEAR},
        LearningCase{"SharedClsm", true, kInBatch, 0, v1::TOWER_KIND_CLSM},
        LearningCase{"SeparateClsm", false, kUniform, 4, v1::TOWER_KIND_CLSM}),
    [](const auto& tested) { return tested.param.name; });

TEST_F(TrainerTest, AdagradLearnsWithAFallingRate) {
  options_.optimizer = {.kind = v1::OPTIMIZER_ADAGRAD,
                        .learning_rate = 0.05,
                        .gradient_clip_norm = 0.5,
                        .warmup_batches = 3,
                        .decay = v1::LEARNING_RATE_DECAY_LINEAR};
  ASSERT_OK_AND_ASSIGN(const TrainingSummary summary, TrainModel(options_));
  EXPECT_EQ((*summary.best.validation.metrics)[kNdcgAt10], 1);
  const auto log = Log();
  // In 20 epochs of 3 mini-batches; the first epoch ends with the warm-up.
  EXPECT_DOUBLE_EQ(log[0]["learning_rate"].get<double>(), 0.0375);
  EXPECT_LT(log[19]["learning_rate"], log[18]["learning_rate"]);
  EXPECT_GT(log[19]["learning_rate"], 0);
  // Steps as long as the limit, and longer ones that were cut.
  EXPECT_GT(log[0]["gradient_norm"], 0.5);
  EXPECT_LT(log[19]["gradient_norm"], log[0]["gradient_norm"]);
  // Nothing grows with the epochs.
  constexpr std::int64_t kMebibyte = 1 << 20;
  const auto early = log[4]["peak_memory_bytes"].get<std::int64_t>();
  EXPECT_GT(early, kMebibyte);
  // A sanitizer keeps what was freed, for a while.
  const std::int64_t slack = (kSanitized ? 64 : 4) * kMebibyte;
  EXPECT_LE(log[19]["peak_memory_bytes"], early + slack);
  ASSERT_OK_AND_ASSIGN(const auto model, LoadModel(options_.data.model_dir));
  const v1::TrainingFacts& facts = model->config().training();
  EXPECT_EQ(facts.optimizer(), v1::OPTIMIZER_ADAGRAD);
  EXPECT_EQ(facts.gradient_clip_norm(), 0.5);
  EXPECT_EQ(facts.warmup_batches(), 3u);
  EXPECT_EQ(facts.learning_rate_decay(), v1::LEARNING_RATE_DECAY_LINEAR);
}

TEST_F(TrainerTest, LearnsWithTyposLogQAndACosineRate) {
  options_.loss.query_typos = 0.3;
  options_.loss.logq = 0.5;
  options_.optimizer.decay = v1::LEARNING_RATE_DECAY_COSINE;
  for (const auto tower : {v1::TOWER_KIND_LINEAR, v1::TOWER_KIND_CLSM}) {
    options_.tower.kind = tower;
    options_.tower.hidden_dims.clear();
    if (tower == v1::TOWER_KIND_CLSM) options_.tower.hidden_dims = {24};
    std::string weights;
    for (const int threads : {1, 3}) {
      options_.threads = threads;
      ASSERT_OK_AND_ASSIGN(const TrainingSummary summary, TrainModel(options_));
      EXPECT_GT((*summary.best.validation.metrics)[kNdcgAt10], 0.9);
      if (weights.empty()) weights = Weights(summary);
      EXPECT_TRUE(Weights(summary) == weights);
    }
  }
  EXPECT_LT(Log().back()["learning_rate"],
            0.03 * options_.optimizer.learning_rate);
  ASSERT_OK_AND_ASSIGN(const auto model, LoadModel(options_.data.model_dir));
  const v1::TrainingFacts& facts = model->config().training();
  EXPECT_EQ(facts.query_typos(), 0.3);
  EXPECT_EQ(facts.logq(), 0.5);
  EXPECT_EQ(facts.learning_rate_decay(), v1::LEARNING_RATE_DECAY_COSINE);
}

// The corpus is small, so a limit that streams it leaves little else: the
// texts are made more instead.
TEST_F(TrainerTest, PositionsChangeWeightsOnlyWhereTheyAreCorrected) {
  options_.epochs = 2;
  options_.data.valid_queries.clear();
  options_.data.valid_docs.clear();
  options_.data.valid_qrels.clear();
  std::string plain, placed;
  for (int i = 0; i < 24; ++i) {
    const std::string pair = Word(i) + "\t" + Word(i + 200) + "\t1\t1";
    plain += pair + "\n";
    placed += pair + "\t" + std::to_string(i % 3 + 1) + "\n";
  }
  const auto train = [&](const std::string& pairs, const std::string& curve) {
    options_.data.train_files = {dir_.Write("placed.tsv", pairs)};
    options_.loss.position_bias =
        curve.empty() ? kNoPositionBias : dir_.Write("curve.tsv", curve);
    const auto summary = TrainModel(options_);
    EXPECT_THAT(summary.status(), IsOk());
    return summary.ok() ? Weights(*summary) : "";
  };
  const std::string weights = train(plain, "");
  EXPECT_TRUE(train(placed, "") == weights);
  EXPECT_TRUE(train(placed, "1\t1\n2\t1\n3\t1\n") == weights);
  EXPECT_FALSE(train(placed, "1\t1\n2\t.5\n3\t.2\n") == weights);
}

TEST_F(TrainerTest, LearnsFromAStreamAsFromMemory) {
  std::string pairs;
  for (int round = 0; round < 80; ++round) {
    for (int i = 0; i < 24; ++i) {
      pairs += Word(i) + " " + Word(i + 100 + round) + "\t" + Word(i + 200) +
               " " + Word(i + 300) + "\n";
    }
  }
  options_.data.train_files.push_back(dir_.Write("more.tsv", pairs));
  options_.data.memory_limit = 300'000;
  options_.features.hash_buckets = 200;
  options_.epochs = 3;
  options_.loss.gamma = kAutoGamma;
  options_.loss.logq = kAutoLogQ;
  std::string weights;
  for (const int threads : {1, 3}) {
    options_.threads = threads;
    ASSERT_OK_AND_ASSIGN(const TrainingSummary summary, TrainModel(options_));
    EXPECT_GT((*summary.best.validation.metrics)[kNdcgAt10], 0.8);
    if (weights.empty()) weights = Weights(summary);
    EXPECT_TRUE(Weights(summary) == weights) << threads << " threads";
  }
  ASSERT_OK_AND_ASSIGN(const auto model, LoadModel(options_.data.model_dir));
  EXPECT_EQ(model->config().gamma(), kManyQueriesGamma);
  EXPECT_EQ(model->config().training().logq(), 0);
}

class HardNegativesTest : public TrainerTest,
                          public ::testing::WithParamInterface<LossOptions> {};

// Also 1,000 negatives, of 24 titles.
TEST_P(HardNegativesTest, LearnsFromWhatWasShownAndNotClicked) {
  std::string shown;
  for (int i = 0; i < 24; ++i) {
    const int other = (i + 7) % 24;
    shown +=
        Word(i) + "\t" + Word(other + 200) + " " + Word(other + 300) + "\t0\n";
  }
  options_.data.train_files.push_back(dir_.Write("shown.tsv", shown));
  options_.loss = GetParam();
  ASSERT_OK_AND_ASSIGN(const TrainingSummary summary, TrainModel(options_));
  EXPECT_EQ((*summary.best.validation.metrics)[kNdcgAt10], 1);
  ASSERT_OK_AND_ASSIGN(const auto model, LoadModel(options_.data.model_dir));
  const v1::TrainingFacts& facts = model->config().training();
  EXPECT_EQ(facts.num_pairs(), 48);
  EXPECT_EQ(facts.negative_sampling(), GetParam().sampling);
  EXPECT_EQ(facts.hard_negatives(),
            static_cast<std::uint32_t>(GetParam().hard_negatives));
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, HardNegativesTest,
    ::testing::Values(
        LossOptions{.sampling = v1::NEGATIVE_SAMPLING_SHOWN_NOT_CLICKED,
                    .negatives = 4},
        LossOptions{.sampling = v1::NEGATIVE_SAMPLING_SHOWN_NOT_CLICKED,
                    .negatives = kMaxNegatives},
        LossOptions{.sampling = kInBatch, .negatives = kMaxNegatives},
        LossOptions{.sampling = kUniform, .negatives = kMaxNegatives},
        LossOptions{.sampling = kInBatch, .hard_negatives = 2}));

class SeedTest : public TrainerTest,
                 public ::testing::WithParamInterface<bool> {};

INSTANTIATE_TEST_SUITE_P(Towers, SeedTest, ::testing::Bool(),
                         [](const auto& shared) {
                           return shared.param ? "Shared" : "Separate";
                         });

TEST_P(SeedTest, DecidesEveryBitWhateverTheThreads) {
  options_.epochs = 3;
  options_.tower.shared = GetParam();
  for (const auto sampling : {kUniform, kInBatch}) {
    options_.loss.sampling = sampling;
    options_.tower.dropout = sampling == kUniform ? 0.1 : 0;
    options_.tower.kind =
        sampling == kUniform ? v1::TOWER_KIND_CLSM : v1::TOWER_KIND_DSSM;
    std::string weights;
    for (const int threads : {1, 2, 3}) {
      options_.threads = threads;
      ASSERT_OK_AND_ASSIGN(const TrainingSummary summary, TrainModel(options_));
      if (weights.empty()) weights = Weights(summary);
      EXPECT_TRUE(Weights(summary) == weights) << threads << " threads";
    }
    // A limit that no gradient reaches changes the way, not the result.
    options_.optimizer.gradient_clip_norm = 1e30;
    ASSERT_OK_AND_ASSIGN(const TrainingSummary clipped, TrainModel(options_));
    EXPECT_TRUE(Weights(clipped) == weights);
    options_.optimizer.gradient_clip_norm = 0;
    options_.seed = 2;
    ASSERT_OK_AND_ASSIGN(const TrainingSummary other, TrainModel(options_));
    EXPECT_FALSE(Weights(other) == weights);
    options_.seed = 1;
  }
}

TEST_F(TrainerTest, BiasesStayZeroWhenTheyAreNotLearned) {
  options_.tower.kind = v1::TOWER_KIND_CLSM;
  options_.tower.biases = false;
  options_.epochs = 2;
  for (const double clip_norm : {0.0, 1.0}) {
    options_.optimizer.gradient_clip_norm = clip_norm;
    ASSERT_OK_AND_ASSIGN(const TrainingSummary summary, TrainModel(options_));
    const std::string file = Weights(summary);
    ASSERT_OK_AND_ASSIGN(const auto tensors, ParseSafetensors(file, "weights"));
    for (const char* name : {"query.0.bias", "query.1.bias"}) {
      const TensorView& bias = tensors.at(name);
      EXPECT_THAT(std::span(bias.data, bias.shape[0]), Each(0)) << name;
    }
  }
}

TEST_F(TrainerTest, DivergenceNamesTheLearningRate) {
  // Adam's steps are as long as the rate: the next sum of weights overflows.
  options_.tower.kind = v1::TOWER_KIND_LINEAR;
  options_.optimizer = {v1::OPTIMIZER_ADAM, 3e38};
  EXPECT_THAT(TrainModel(options_),
              StatusIs(absl::StatusCode::kOutOfRange,
                       HasSubstr("--learning_rate=3e+38")));
}

TEST_F(TrainerTest, UnwritableModelDirIsFoundBeforeTraining) {
  options_.data.model_dir = options_.data.train_files[0] + "/model";
  // Would fail too, but later.
  options_.data.train_files = {dir_.File("missing.tsv")};
  const auto summary = TrainModel(options_);
  EXPECT_FALSE(summary.ok());
  EXPECT_THAT(std::string(summary.status().message()),
              HasSubstr("pairs.tsv/model"));
}

TEST_F(TrainerTest, MissingFilesAreNamed) {
  TrainOptions options = options_;
  options.data.train_files = {dir_.File("missing.tsv")};
  EXPECT_THAT(TrainModel(options),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("missing.tsv")));
  options = options_;
  options.data.valid_qrels = dir_.File("missing.txt");
  EXPECT_THAT(TrainModel(options),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("missing.txt")));
}

TEST_F(TrainerTest, ModelThatDoesNotFitInMemoryIsRefused) {
  options_.features.hash_buckets = 1 << 26;
  options_.tower.hidden_dims = {8192};
  EXPECT_THAT(TrainModel(options_),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("GiB"), HasSubstr("--hash_buckets"))));
}

}  // namespace
}  // namespace semrank
