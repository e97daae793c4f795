#include "model/train/options/train_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "model/train/options/presets.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TrainOptions Valid() {
  TrainOptions options;
  options.data.train_files = {"train.tsv"};
  options.data.model_dir = "model";
  return options;
}

TEST(TrainOptionsTest, DefaultsAreValid) {
  TrainOptions options = Valid();
  ASSERT_THAT(ResolveOptions(options), IsOk());
  EXPECT_EQ(options.tower.activation, v1::ACTIVATION_TANH);
  EXPECT_EQ(options.data.valid_fraction, kDefaultValidFraction);
}

TEST(TrainOptionsTest, NegativesDependOnTheSampling) {
  TrainOptions options = Valid();
  options.loss.sampling = v1::NEGATIVE_SAMPLING_UNIFORM;
  ASSERT_THAT(ResolveOptions(options), IsOk());
  EXPECT_EQ(options.loss.negatives, 4);
  options = Valid();
  options.loss.sampling = v1::NEGATIVE_SAMPLING_IN_BATCH;
  ASSERT_THAT(ResolveOptions(options), IsOk());
  EXPECT_EQ(options.loss.negatives, 0);
}

TEST(TrainOptionsTest, NothingIsHeldOutBesideOtherValidation) {
  TrainOptions options = Valid();
  options.data.valid_pair_files = {"valid.tsv"};
  ASSERT_THAT(ResolveOptions(options), IsOk());
  EXPECT_EQ(options.data.valid_fraction, 0);
  options = Valid();
  options.data.valid_queries = "q";
  options.data.valid_docs = "d";
  options.data.valid_qrels = "r";
  ASSERT_THAT(ResolveOptions(options), IsOk());
  EXPECT_EQ(options.data.valid_fraction, 0);
}

TEST(TrainOptionsTest, EpochsAreMeasuredByWhatThereIs) {
  TrainOptions options = Valid();
  ASSERT_THAT(ResolveOptions(options), IsOk());
  EXPECT_EQ(options.early_stopping, EpochMeasure::kLoss);
  options = Valid();
  options.data.valid_queries = "q";
  options.data.valid_docs = "d";
  options.data.valid_qrels = "r";
  TrainOptions by_loss = options;
  ASSERT_THAT(ResolveOptions(options), IsOk());
  EXPECT_EQ(options.early_stopping, EpochMeasure::kNdcg);
  by_loss.early_stopping = EpochMeasure::kLoss;
  ASSERT_THAT(ResolveOptions(by_loss), IsOk());
  EXPECT_EQ(by_loss.data.valid_fraction, kDefaultValidFraction);
}

TEST(TrainOptionsTest, LinearHasOneLayer) {
  TrainOptions options = Valid();
  options.tower.kind = v1::TOWER_KIND_LINEAR;
  ASSERT_THAT(ResolveOptions(options), IsOk());
  EXPECT_THAT(options.tower.hidden_dims, IsEmpty());
  EXPECT_EQ(options.tower.activation, v1::ACTIVATION_IDENTITY);
  EXPECT_THAT(TowerWidths(options.tower, 9), ElementsAre(9, 128));
}

TEST(TrainOptionsTest, WidthsChain) {
  EXPECT_THAT(TowerWidths(TowerOptions(), 30621),
              ElementsAre(30621, 300, 300, 128));
}

// DSSM 3.3 and 3.4; gamma and the learning rate are not in the paper.
TEST(TrainOptionsTest, PresetIsThePapersSetting) {
  ASSERT_OK_AND_ASSIGN(const TrainOptions options, PresetOptions("dssm2013"));
  EXPECT_EQ(options.tower.kind, v1::TOWER_KIND_DSSM);
  EXPECT_EQ(options.features.kind, v1::FEATURE_KIND_LETTERS);
  EXPECT_EQ(options.features.ngram_length, 3);
  EXPECT_TRUE(options.tower.shared);
  EXPECT_THAT(options.tower.hidden_dims, ElementsAre(300, 300));
  EXPECT_EQ(options.tower.embedding_dim, 128);
  EXPECT_EQ(options.loss.sampling, v1::NEGATIVE_SAMPLING_UNIFORM);
  EXPECT_EQ(options.loss.negatives, 4);
  EXPECT_EQ(options.optimizer.kind, v1::OPTIMIZER_SGD);
  EXPECT_EQ(options.loss.gamma, 10);
  EXPECT_EQ(options.optimizer.learning_rate, 0.5);
  EXPECT_EQ(options.batch_size, 1024);
  EXPECT_EQ(options.epochs, 20);
  EXPECT_EQ(options.patience, 0);
}

TEST(TrainOptionsTest, Clsm2014IsThePapersBestRow) {
  ASSERT_OK_AND_ASSIGN(TrainOptions options, PresetOptions("clsm2014"));
  options.data.train_files = {"t"};
  options.data.model_dir = "m";
  ASSERT_THAT(ResolveOptions(options), IsOk());
  EXPECT_EQ(options.tower.kind, v1::TOWER_KIND_CLSM);
  EXPECT_EQ(options.tower.clsm_window, 3);
  EXPECT_EQ(TowerWidths(options.tower, 1000),
            (std::vector<int>{3000, 300, 128}));
  EXPECT_FALSE(options.tower.shared);
  EXPECT_FALSE(options.tower.biases);
  EXPECT_EQ(options.features.kind, v1::FEATURE_KIND_LETTERS);
  EXPECT_EQ(options.features.ngram_length, 3);
  EXPECT_EQ(options.loss.sampling, v1::NEGATIVE_SAMPLING_UNIFORM);
  EXPECT_EQ(options.loss.negatives, 50);
  EXPECT_EQ(options.loss.gamma, 10);
  EXPECT_EQ(options.optimizer.kind, v1::OPTIMIZER_SGD);
  EXPECT_EQ(options.optimizer.learning_rate, 0.5);
  EXPECT_EQ(options.batch_size, 1024);
  EXPECT_EQ(options.epochs, 20);
  EXPECT_EQ(options.patience, 0);
}

TEST(TrainOptionsTest, Ssi2009IsThePapersRun) {
  ASSERT_OK_AND_ASSIGN(TrainOptions options, PresetOptions("ssi2009"));
  options.data.train_files = {"pairs.tsv"};
  options.data.model_dir = "model";
  ASSERT_THAT(ResolveOptions(options), IsOk());
  EXPECT_EQ(options.tower.kind, v1::TOWER_KIND_SSI);
  EXPECT_EQ(options.features.kind, v1::FEATURE_KIND_WORDS);
  EXPECT_EQ(options.features.max_words, 30000);
  EXPECT_EQ(options.ssi.variant, v1::SSI_VARIANT_LOW_RANK);
  EXPECT_EQ(options.ssi.init_scale, 1);
  EXPECT_EQ(options.loss.margin, 1);
  EXPECT_EQ(options.loss.negatives, 1);
  EXPECT_EQ(options.loss.sampling, v1::NEGATIVE_SAMPLING_UNIFORM);
  EXPECT_EQ(options.optimizer.kind, v1::OPTIMIZER_SGD);
  EXPECT_EQ(options.optimizer.learning_rate, 0.1);
  EXPECT_EQ(options.tower.embedding_dim, 100);
  EXPECT_EQ(options.batch_size, 1);
  EXPECT_FALSE(options.tower.shared);
}

TEST(TrainOptionsTest, UnknownPresetsAreNamed) {
  for (const char* name : {"clsm2013", "dssm"}) {
    EXPECT_THAT(PresetOptions(name),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr(std::string("--preset=") + name)));
  }
}

struct BadOptionCase {
  std::string name;
  std::string want;  // part of the message
  void (*spoil)(TrainOptions&);
};

class BadOptionTest : public ::testing::TestWithParam<BadOptionCase> {};

TEST_P(BadOptionTest, IsRefusedByTheFlagsName) {
  TrainOptions options = Valid();
  GetParam().spoil(options);
  EXPECT_THAT(
      ResolveOptions(options),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(GetParam().want)));
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

INSTANTIATE_TEST_SUITE_P(
    Options, BadOptionTest,
    ::testing::Values(
        BadOptionCase{"NoTrain", "--train=",
                      [](TrainOptions& o) { o.data.train_files.clear(); }},
        BadOptionCase{"NoModelDir", "--model_dir=",
                      [](TrainOptions& o) { o.data.model_dir.clear(); }},
        BadOptionCase{"BadLines", "--max_bad_lines=-1",
                      [](TrainOptions& o) { o.data.max_bad_lines = -1; }},
        BadOptionCase{"ValidFraction", "--valid_fraction=0.9",
                      [](TrainOptions& o) { o.data.valid_fraction = 0.9; }},
        BadOptionCase{"ValidFractionNan", "--valid_fraction=nan",
                      [](TrainOptions& o) { o.data.valid_fraction = kNan; }},
        BadOptionCase{"TwoKindsOfValidPairs", "--valid_fraction=0.1",
                      [](TrainOptions& o) {
                        o.data.valid_pair_files = {"v"};
                        o.data.valid_fraction = 0.1;
                      }},
        BadOptionCase{"QueriesWithoutDocs", "--valid_docs=",
                      [](TrainOptions& o) { o.data.valid_queries = "q"; }},
        BadOptionCase{"NgramLength", "--ngram_length=9",
                      [](TrainOptions& o) { o.features.ngram_length = 9; }},
        BadOptionCase{"MaxWords", "--max_words=-5",
                      [](TrainOptions& o) { o.features.max_words = -5; }},
        BadOptionCase{"HashBuckets", "--hash_buckets=-1",
                      [](TrainOptions& o) { o.features.hash_buckets = -1; }},
        BadOptionCase{"HashedWords", "--hash_buckets=10",
                      [](TrainOptions& o) {
                        o.features.hash_buckets = 10;
                        o.features.kind = v1::FEATURE_KIND_WORDS;
                      }},
        BadOptionCase{"EvenWindow", "--window=4: must be odd",
                      [](TrainOptions& o) {
                        o.tower.kind = v1::TOWER_KIND_CLSM;
                        o.tower.clsm_window = 4;
                      }},
        BadOptionCase{"WideWindow", "--window=17",
                      [](TrainOptions& o) {
                        o.tower.kind = v1::TOWER_KIND_CLSM;
                        o.tower.clsm_window = 17;
                      }},
        BadOptionCase{"DssmWithWindow", "--window=3: only --tower=clsm",
                      [](TrainOptions& o) { o.tower.clsm_window = 3; }},
        BadOptionCase{"ClsmWithoutConvolution", "--hidden=",
                      [](TrainOptions& o) {
                        o.tower.kind = v1::TOWER_KIND_CLSM;
                        o.tower.hidden_dims.clear();
                      }},
        BadOptionCase{"LinearClsm", "--activation=linear",
                      [](TrainOptions& o) {
                        o.tower.kind = v1::TOWER_KIND_CLSM;
                        o.tower.activation = v1::ACTIVATION_IDENTITY;
                      }},
        BadOptionCase{
            "SsiOfLetters", "--features=letters: --tower=ssi",
            [](TrainOptions& o) { o.tower.kind = v1::TOWER_KIND_SSI; }},
        BadOptionCase{"SsiTanh", "--activation=tanh: --tower=ssi has none",
                      [](TrainOptions& o) {
                        o.tower.kind = v1::TOWER_KIND_SSI;
                        o.tower.activation = v1::ACTIVATION_TANH;
                      }},
        BadOptionCase{"SsiDenseWords", "--ssi_dense_words=-1",
                      [](TrainOptions& o) { o.ssi.dense_words = -1; }},
        BadOptionCase{"SsiDenseWordsOfDiagonal", "--ssi_dense_words=9",
                      [](TrainOptions& o) {
                        o.ssi.variant = v1::SSI_VARIANT_DIAGONAL;
                        o.ssi.dense_words = 9;
                      }},
        BadOptionCase{"SsiHashedLowRank", "--ssi_pair_hash_buckets=9",
                      [](TrainOptions& o) { o.ssi.pair_hash_buckets = 9; }},
        BadOptionCase{"SsiFrequentWordsAlone", "--ssi_correlated_top_k=0",
                      [](TrainOptions& o) { o.ssi.frequent_words = 9; }},
        BadOptionCase{"SsiTopK", "--ssi_correlated_top_k=65",
                      [](TrainOptions& o) {
                        o.ssi.frequent_words = 9;
                        o.ssi.correlated_top_k = 65;
                      }},
        BadOptionCase{"SsiTwoKindsOfRareWords", "--ssi_dense_words=9",
                      [](TrainOptions& o) {
                        o.ssi.frequent_words = 9;
                        o.ssi.correlated_top_k = 5;
                        o.ssi.dense_words = 9;
                      }},
        BadOptionCase{"SsiInitScale", "--ssi_init_scale=0",
                      [](TrainOptions& o) { o.ssi.init_scale = 0; }},
        BadOptionCase{"Margin", "--margin=0",
                      [](TrainOptions& o) { o.loss.margin = 0; }},
        BadOptionCase{"LinearDssm", "--activation=linear",
                      [](TrainOptions& o) {
                        o.tower.activation = v1::ACTIVATION_IDENTITY;
                      }},
        BadOptionCase{"HiddenWidth", "--hidden=300,0",
                      [](TrainOptions& o) {
                        o.tower.hidden_dims = {300, 0};
                      }},
        BadOptionCase{
            "HiddenLayers", "--hidden=1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1",
            [](TrainOptions& o) { o.tower.hidden_dims.assign(16, 1); }},
        BadOptionCase{"EmbeddingDim", "--embedding_dim=0",
                      [](TrainOptions& o) { o.tower.embedding_dim = 0; }},
        BadOptionCase{"NoUniformNegatives", "--negatives=0",
                      [](TrainOptions& o) {
                        o.loss.sampling = v1::NEGATIVE_SAMPLING_UNIFORM;
                        o.loss.negatives = 0;
                      }},
        BadOptionCase{"Negatives", "--negatives=1001",
                      [](TrainOptions& o) { o.loss.negatives = 1001; }},
        BadOptionCase{"HardNegativesNotInBatch", "--hard_negatives=3",
                      [](TrainOptions& o) {
                        o.loss.sampling = v1::NEGATIVE_SAMPLING_UNIFORM;
                        o.loss.hard_negatives = 3;
                      }},
        BadOptionCase{"HardNegatives", "--hard_negatives=1001",
                      [](TrainOptions& o) { o.loss.hard_negatives = 1001; }},
        BadOptionCase{"JudgedWithoutUse", "--judged=j.tsv",
                      [](TrainOptions& o) { o.data.judged_file = "j.tsv"; }},
        BadOptionCase{"Gamma", "--gamma=0",
                      [](TrainOptions& o) { o.loss.gamma = 0; }},
        BadOptionCase{"GammaNan", "--gamma=nan",
                      [](TrainOptions& o) { o.loss.gamma = kNan; }},
        BadOptionCase{
            "NdcgWithoutQueries", "--early_stopping=ndcg",
            [](TrainOptions& o) { o.early_stopping = EpochMeasure::kNdcg; }},
        BadOptionCase{"LossWithoutPairs", "--early_stopping=loss",
                      [](TrainOptions& o) {
                        o.early_stopping = EpochMeasure::kLoss;
                        o.data.valid_fraction = 0;
                      }},
        BadOptionCase{
            "ClipNorm", "--gradient_clip_norm=-2",
            [](TrainOptions& o) { o.optimizer.gradient_clip_norm = -2; }},
        BadOptionCase{"Dropout", "--dropout=1",
                      [](TrainOptions& o) { o.tower.dropout = 1; }},
        BadOptionCase{"DropoutWithoutUnits", "--dropout=0.5",
                      [](TrainOptions& o) {
                        o.tower.hidden_dims.clear();
                        o.tower.dropout = 0.5;
                      }},
        BadOptionCase{"Warmup", "--warmup_batches=-1",
                      [](TrainOptions& o) { o.optimizer.warmup_batches = -1; }},
        BadOptionCase{"LearningRate", "--learning_rate=-1",
                      [](TrainOptions& o) { o.optimizer.learning_rate = -1; }},
        BadOptionCase{"BatchSize", "--batch_size=1:",
                      [](TrainOptions& o) { o.batch_size = 1; }},
        BadOptionCase{"Epochs", "--epochs=0",
                      [](TrainOptions& o) { o.epochs = 0; }},
        BadOptionCase{"Patience", "--patience=-1",
                      [](TrainOptions& o) { o.patience = -1; }},
        BadOptionCase{"Threads", "--threads=2000",
                      [](TrainOptions& o) { o.threads = 2000; }}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace semrank
