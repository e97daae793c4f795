#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/cli/command_line.h"
#include "model/train/options/model_size.h"
#include "model/train/options/option_flags.h"
#include "model/train/options/resolve_options.h"
#include "model/train/options/ssi_options.h"
#include "model/train/options/unused_flags.h"
#include "tests/model/train/recipe_options.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TrainOptions Valid() {
  TrainOptions options = PlainOptions();
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

TEST(TrainOptionsTest, DefaultCorrectionIsForInBatchNegativesAlone) {
  TrainOptions options = Valid();
  options.loss.logq = kAutoLogQ;
  ASSERT_THAT(ResolveOptions(options), IsOk());
  EXPECT_EQ(options.loss.logq, kAutoLogQ);
  options.loss.sampling = v1::NEGATIVE_SAMPLING_UNIFORM;
  options.loss.negatives = 4;
  ASSERT_THAT(ResolveOptions(options), IsOk());
  EXPECT_EQ(options.loss.logq, 0);
  options = DefaultOptions(v1::TOWER_KIND_SSI);
  options.data = Valid().data;
  options.loss.logq = kAutoLogQ;
  ASSERT_THAT(ResolveOptions(options), IsOk());
  EXPECT_EQ(options.loss.logq, 0);
}

TEST(ModelBytesTest, SeveralProcessesKeepTheGradientsOfTowers) {
  TrainOptions options = Valid();
  options.optimizer.kind = v1::OPTIMIZER_SGD;
  ASSERT_THAT(ResolveOptions(options), IsOk());
  ASSERT_OK_AND_ASSIGN(const std::int64_t alone, ModelBytes(options, 1000));
  ASSERT_OK_AND_ASSIGN(const std::int64_t two, ModelBytes(options, 1000, 2));
  EXPECT_EQ(two, alone / 2 * 3);  // weights, best weights, gradients
  options.optimizer.gradient_clip_norm = 1;
  EXPECT_THAT(ModelBytes(options, 1000), two);
  EXPECT_THAT(ModelBytes(options, 1000, 2), two);
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
  EXPECT_EQ(options.early_stopping, EpochMeasure::kAuto);  // the data decide
  EXPECT_TRUE(options.data.default_valid_fraction);
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

TEST(TrainOptionsTest, TheLastEpochOfARateThatFallsIsPublished) {
  TrainOptions options = DefaultOptions(v1::TOWER_KIND_LINEAR);
  options.data = Valid().data;
  TrainOptions held_out = options, by_loss = options;
  ASSERT_THAT(ResolveOptions(options), IsOk());
  EXPECT_EQ(options.early_stopping, EpochMeasure::kLast);
  EXPECT_EQ(options.data.valid_fraction, 0);
  EXPECT_EQ(WhatMakesUnused("patience", options), "early_stopping=last");
  held_out.data.valid_fraction = 0.1;
  ASSERT_THAT(ResolveOptions(held_out), IsOk());
  EXPECT_EQ(held_out.early_stopping, EpochMeasure::kLast);
  EXPECT_EQ(held_out.data.valid_fraction, 0.1);
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
  EXPECT_THAT(TowerWidths(PlainOptions().tower, 30621),
              ElementsAre(30621, 300, 300, 128));
}

// DSSM 3.3 and 3.4; gamma and the learning rate are not in the paper.
TEST(TrainOptionsTest, PresetIsThePapersSetting) {
  const TrainOptions options = PresetOptions("dssm2013");
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
  TrainOptions options = PresetOptions("clsm2014");
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
  TrainOptions options = PresetOptions("ssi2009");
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
    EXPECT_THAT(PresetRecipe(name),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr(std::string("--preset=") + name)));
  }
}

struct BadFlagsCase {
  std::string name;
  std::vector<std::string> flags;
  std::string want;  // part of the message
};

class BadFlagsTest : public ::testing::TestWithParam<BadFlagsCase> {};

TEST_P(BadFlagsTest, AreRefusedByName) {
  TrainOptions options = Valid();
  CommandLine command_line({.name = "semrank-train"});
  AddTrainOptions(command_line, options);
  absl::Status status = command_line.ParseArguments(GetParam().flags).status();
  if (status.ok()) status = CheckFilesAreNamed(options.data);
  if (status.ok()) status = ResolveOptions(options);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr(GetParam().want)));
  EXPECT_EQ(command_line.ExitCode(status), kExitWrongUse);
}

// Values of one flag: the message repeats it.
std::vector<BadFlagsCase> BadValues() {
  std::vector<BadFlagsCase> cases;
  for (const std::string flag : {"--train=",
                                 "--model_dir=",
                                 "--max_bad_lines=-1",
                                 "--memory_limit=-1",
                                 "--valid_fraction=0.9",
                                 "--valid_fraction=nan",
                                 "--ngram_length=9",
                                 "--max_words=-5",
                                 "--hash_buckets=-1",
                                 "--hidden=300,0",
                                 "--hidden=300,x",
                                 "--hidden=300,,300",
                                 "--hidden=1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1",
                                 "--embedding_dim=0",
                                 "--dropout=1",
                                 "--window=17",
                                 "--window=3",
                                 "--negatives=1001",
                                 "--hard_negatives=1001",
                                 "--judged=j.tsv",
                                 "--logq=1.5",
                                 "--logq=-0.5",
                                 "--query_typos=nan",
                                 "--query_typos=-0.1",
                                 "--gamma=-1",
                                 "--gamma=nan",
                                 "--margin=0",
                                 "--gradient_clip_norm=-2",
                                 "--warmup_batches=-1",
                                 "--learning_rate=-1",
                                 "--learning_rate=0",
                                 "--ssi_dense_words=-1",
                                 "--ssi_pair_hash_buckets=9",
                                 "--ssi_init_scale=0",
                                 "--batch_size=1",
                                 "--batch_size=16385",
                                 "--epochs=0",
                                 "--patience=-1",
                                 "--threads=2000",
                                 "--checkpoint_every=-1s",
                                 "--checkpoint_batches=-1",
                                 "--early_stopping=ndcg",
                                 "--activation=linear",
                                 "--tower=cnn",
                                 "--features=pixels",
                                 "--activation=relu",
                                 "--optimizer=lbfgs",
                                 "--learning_rate_decay=step",
                                 "--early_stopping=map",
                                 "--negative_sampling=hard",
                                 "--clicks=twice",
                                 "--valid_candidates=some",
                                 "--ssi=cubic"}) {
    // A missing value leaves no "=".
    const std::string shown = flag.substr(0, flag.find_last_not_of('=') + 1);
    cases.push_back({std::to_string(cases.size()), {flag}, shown + ": "});
  }
  return cases;
}

const auto kNameOfCase = [](const auto& tested) { return tested.param.name; };

INSTANTIATE_TEST_SUITE_P(Values, BadFlagsTest, ::testing::ValuesIn(BadValues()),
                         kNameOfCase);

INSTANTIATE_TEST_SUITE_P(
    Combinations, BadFlagsTest,
    ::testing::Values(
        BadFlagsCase{"TwoKindsOfValidPairs",
                     {"--valid_pairs=v", "--valid_fraction=0.1"},
                     "--valid_fraction=0.1"},
        BadFlagsCase{
            "QueriesWithoutDocs", {"--valid_queries=q"}, "--valid_docs: "},
        BadFlagsCase{"HashedWords",
                     {"--hash_buckets=10", "--features=words"},
                     "--hash_buckets=10"},
        BadFlagsCase{"HashedBigrams",
                     {"--hash_buckets=10", "--features=words+bigrams"},
                     "--features=words+bigrams has none"},
        BadFlagsCase{"ClsmWithBigrams",
                     {"--tower=clsm", "--features=letters+bigrams"},
                     "--features=letters+bigrams: --tower=clsm"},
        BadFlagsCase{"LexicalWeightOfOne",
                     {"--lexical=1"},
                     "--lexical=1: must be auto, none or a weight"},
        BadFlagsCase{"LexicalWord", {"--lexical=some"}, "--lexical=some"},
        BadFlagsCase{"LexicalSsi",
                     {"--tower=ssi", "--features=words", "--lexical=0.5"},
                     "--lexical=0.5: --tower=ssi"},
        BadFlagsCase{"EvenWindow",
                     {"--tower=clsm", "--window=4"},
                     "--window=4: must be odd"},
        BadFlagsCase{"DssmWithWindow",
                     {"--tower=dssm", "--window=3"},
                     "--window=3: only --tower=clsm"},
        BadFlagsCase{"ClsmWithoutConvolution",
                     {"--tower=clsm", "--hidden="},
                     "--hidden: "},
        BadFlagsCase{"LinearClsm",
                     {"--tower=clsm", "--activation=linear"},
                     "--activation=linear"},
        BadFlagsCase{
            "SsiOfLetters", {"--tower=ssi"}, "--features=letters: --tower=ssi"},
        BadFlagsCase{"SsiTanh",
                     {"--tower=ssi", "--activation=tanh"},
                     "--activation=tanh: --tower=ssi has none"},
        BadFlagsCase{"SsiDenseWordsOfDiagonal",
                     {"--ssi=diagonal", "--ssi_dense_words=9"},
                     "--ssi_dense_words=9"},
        BadFlagsCase{"SsiFrequentWordsAlone",
                     {"--ssi_frequent_words=9"},
                     "--ssi_correlated_top_k=0"},
        BadFlagsCase{"SsiTopK",
                     {"--ssi_frequent_words=9", "--ssi_correlated_top_k=65"},
                     "--ssi_correlated_top_k=65"},
        BadFlagsCase{"SsiTwoKindsOfRareWords",
                     {"--ssi_frequent_words=9", "--ssi_correlated_top_k=5",
                      "--ssi_dense_words=9"},
                     "--ssi_dense_words=9"},
        BadFlagsCase{"SsiHashKernelWithoutBuckets",
                     {"--ssi=full_no_identity"},
                     "--ssi_pair_hash_buckets=0: --ssi=full_no_identity"},
        BadFlagsCase{"SsiSameRankOfNoWords",
                     {"--ssi_correlated_pairing=same_rank"},
                     "--ssi_correlated_pairing=same_rank: pairs correlated"},
        BadFlagsCase{"SsiMixedPartsOfNoWords",
                     {"--ssi_mix_parts"},
                     "--ssi_mix_parts=true: mixes in correlated words"},
        BadFlagsCase{
            "SsiLongVectors",
            {"--tower=ssi", "--features=words", "--lexical=none",
             "--ssi_frequent_words=9", "--ssi_correlated_top_k=64",
             "--ssi_correlated_pairing=same_rank", "--embedding_dim=257"},
            "--embedding_dim=257: vectors of"},
        BadFlagsCase{"NoUniformNegatives",
                     {"--negative_sampling=uniform", "--negatives=0"},
                     "--negatives=0"},
        BadFlagsCase{"HardNegativesNotInBatch",
                     {"--negative_sampling=uniform", "--hard_negatives=3"},
                     "--hard_negatives=3"},
        BadFlagsCase{"LogQNotInBatch",
                     {"--negative_sampling=uniform", "--logq=0.5"},
                     "--logq=0.5: corrects for titles"},
        BadFlagsCase{"LogQOfSsi",
                     {"--tower=ssi", "--features=words", "--logq=1"},
                     "--logq=1: corrects a softmax"},
        BadFlagsCase{"TyposOfWords",
                     {"--features=words", "--query_typos=0.25"},
                     "--query_typos=0.25: a mistyped word"},
        BadFlagsCase{"LossWithoutPairs",
                     {"--early_stopping=loss", "--valid_fraction=0"},
                     "--early_stopping=loss"},
        BadFlagsCase{"DropoutWithoutUnits",
                     {"--hidden=", "--dropout=0.5"},
                     "--dropout=0.5"},
        BadFlagsCase{"ResumeOfStandardInput",
                     {"--train=-", "--resume"},
                     "--resume=true"}),
    kNameOfCase);

}  // namespace
}  // namespace semrank
