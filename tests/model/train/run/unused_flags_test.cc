#include "model/train/options/unused_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/train/options/resolve_options.h"
#include "tests/model/train/recipe_options.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Unused(TrainOptions options,
                                const std::vector<FlagValue>& flags) {
  options.data.train_files = {"train.tsv"};
  options.data.model_dir = "model";
  EXPECT_THAT(ResolveOptions(options), IsOk());
  return DescribeUnusedFlags(options, flags);
}

TEST(UnusedFlagsTest, UnknownWordsNeedAnIdentity) {
  const std::vector<FlagValue> flags = {
      {"ssi_unknown_word_buckets", "9", "command line"}};
  TrainOptions options = DefaultOptions(v1::TOWER_KIND_SSI);
  EXPECT_EQ(options.ssi.unknown_word_buckets, 1 << 18);
  EXPECT_THAT(Unused(options, flags), IsEmpty());
  EXPECT_EQ(PresetOptions("ssi2009").ssi.unknown_word_buckets, 0);
  options.ssi.variant = v1::SSI_VARIANT_LOW_RANK_NO_IDENTITY;
  EXPECT_THAT(Unused(options, flags),
              ElementsAre("--ssi_unknown_word_buckets=9 has no effect with "
                          "--ssi=low_rank_no_identity"));
  options.features.kind = v1::FEATURE_KIND_WORDS_AND_BIGRAMS;
  EXPECT_THAT(Unused(options, flags),
              ElementsAre("--ssi_unknown_word_buckets=9 has no effect with "
                          "--features=words+bigrams"));
  EXPECT_THAT(Unused(DefaultOptions(v1::TOWER_KIND_LINEAR), flags),
              ElementsAre("--ssi_unknown_word_buckets=9 has no effect with "
                          "--tower=linear"));
}

TEST(UnusedFlagsTest, NamesTheFlagAndWhatMakesItUseless) {
  EXPECT_THAT(Unused(DefaultOptions(v1::TOWER_KIND_LINEAR),
                     {{"hidden", "300,300", "command line"},
                      {"max_words", "100", "environment"},
                      {"ssi", "full", "config file"}}),
              ElementsAre("--hidden=300,300 has no effect with --tower=linear",
                          "--max_words=100 has no effect with "
                          "--features=letters+bigrams",
                          "--ssi=full has no effect with --tower=linear"));
  TrainOptions ssi = DefaultOptions(v1::TOWER_KIND_SSI);
  ssi.ssi.variant = v1::SSI_VARIANT_DIAGONAL;
  EXPECT_THAT(
      Unused(ssi, {{"gamma", "10", "command line"},
                   {"embedding_dim", "64", "command line"},
                   {"ngram_length", "2", "command line"}}),
      ElementsAre("--gamma=10 has no effect with --tower=ssi",
                  "--embedding_dim=64 has no effect with --ssi=diagonal",
                  "--ngram_length=2 has no effect with "
                  "--features=words"));
}

TEST(UnusedFlagsTest, ARunOnDocumentsAloneHasNoDaysToJudge) {
  TrainOptions options = DefaultOptions(v1::TOWER_KIND_LINEAR);
  options.data.docs_file = "d.tsv";
  EXPECT_EQ(WhatMakesUnused("judge_days", options), "docs");
  options.data.train_files = {"train.tsv"};
  EXPECT_EQ(WhatMakesUnused("judge_days", options), "train");
}

TEST(UnusedFlagsTest, NamesTheStartWhoseLexicalWeightIsZero) {
  TrainOptions options = DefaultOptions(v1::TOWER_KIND_LINEAR);
  options.features.lexical = "none";
  const std::vector<FlagValue> flags = {{"docs", "d.tsv", "command line"}};
  EXPECT_THAT(Unused(options, flags),
              ElementsAre("--docs=d.tsv has no effect with --lexical=none"));
  options.initial_model.version_dir = "models/shop/1";
  EXPECT_THAT(Unused(options, flags),
              ElementsAre("--docs=d.tsv has no effect with "
                          "--init_from=models/shop/1, whose model has no "
                          "lexical part"));
  // These would have one without the flag.
  options.initial_model.has_lexical = true;
  EXPECT_THAT(Unused(options, flags),
              ElementsAre("--docs=d.tsv has no effect with --lexical=none"));
  options.initial_model.has_lexical = false;
  options.initial_model.is_general = true;
  EXPECT_THAT(Unused(options, flags),
              ElementsAre("--docs=d.tsv has no effect with --lexical=none"));
}

TEST(UnusedFlagsTest, SaysNothingOfFlagsThatAreUsed) {
  const std::vector<FlagValue> flags = {{"hidden", "300,300", "command line"},
                                        {"gamma", "10", "command line"},
                                        {"ngram_length", "2", "command line"},
                                        {"epochs", "2", "command line"}};
  EXPECT_THAT(Unused(DefaultOptions(v1::TOWER_KIND_DSSM), flags), IsEmpty());
  EXPECT_THAT(Unused(DefaultOptions(v1::TOWER_KIND_SSI),
                     {{"margin", "1", "command line"},
                      {"embedding_dim", "64", "command line"}}),
              IsEmpty());
}

}  // namespace
}  // namespace semrank
