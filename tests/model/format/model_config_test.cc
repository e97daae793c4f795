#include "model/format/model_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "tests/model/format/tiny_model.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

v1::ModelConfig GoodConfig(const TinyModelOptions& options = {}) {
  return TinyModel(options).bundle().config;
}

TEST(ModelConfigTest, ReadsWhatItWrites) {
  v1::ModelConfig config = GoodConfig();
  config.mutable_training()->set_validation_ndcg_at_10(0.5);
  config.mutable_training()->mutable_create_time()->set_seconds(1700000000);
  ASSERT_OK_AND_ASSIGN(const std::string json, FormatModelConfig(config));
  EXPECT_THAT(json, HasSubstr("\"embedding_dim\": 4"));
  ASSERT_OK_AND_ASSIGN(const v1::ModelConfig read, ParseModelConfig(json));
  EXPECT_EQ(read.SerializeAsString(), config.SerializeAsString());
}

TEST(ModelConfigTest, IgnoresUnknownFieldsAndTakesLowerCamelCase) {
  ASSERT_OK_AND_ASSIGN(
      const v1::ModelConfig config,
      ParseModelConfig(R"({"embeddingDim": 7, "from_the_future": {"x": []}})"));
  EXPECT_EQ(config.embedding_dim(), 7u);
}

// If a field has two values, parsers differ in which they take.
TEST(ModelConfigTest, AFieldIsGivenOnceWhateverItsSpelling) {
  for (const char* json :
       {R"({"embedding_dim": 7, "embedding_dim": 7})",
        R"({"embedding_dim": 7, "embeddingDim": 8})",
        R"({"features": {"numWords": 7, "num_words": 8}})"}) {
    EXPECT_THAT(
        ParseModelConfig(json),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is repeated")))
        << json;
  }
}

TEST(ModelConfigTest, RefusesJsonThatIsNotAConfiguration) {
  for (const std::string json :
       {"", "[]", "{\"tower\": {}}", "{\"embedding_dim\": -1}",
        "{\"embedding_dim\": 1, \"embedding_dim\": 2}",
        "{\"embedding_dim\": 4294967296}", "{\"hidden_dims\": [1.5]}"}) {
    EXPECT_THAT(ParseModelConfig(json),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << json;
  }
}

TEST(ModelConfigTest, GoodConfigurationsPass) {
  EXPECT_THAT(CheckModelConfig(GoodConfig()), IsOk());
  EXPECT_THAT(
      CheckModelConfig(GoodConfig({.tower = v1::TOWER_KIND_LINEAR,
                                   .activation = v1::ACTIVATION_IDENTITY,
                                   .hidden_dims = {}})),
      IsOk());
  EXPECT_THAT(CheckModelConfig(
                  GoodConfig({.features = v1::FEATURE_KIND_LETTERS_AND_WORDS})),
              IsOk());
  EXPECT_THAT(CheckModelConfig(GoodConfig({.hash_buckets = 77})), IsOk());
  EXPECT_THAT(CheckModelConfig(GoodConfig(
                  {.tower = v1::TOWER_KIND_CLSM, .clsm_window = 15})),
              IsOk());
  EXPECT_THAT(CheckModelConfig(GoodConfig({.lexical_weight = 0})), IsOk());
}

struct BadConfig {
  std::string name;
  std::function<void(v1::ModelConfig&)> spoil;
  absl::StatusCode code;
  std::string message;
};

class BadConfigTest : public ::testing::TestWithParam<BadConfig> {};

TEST_P(BadConfigTest, IsRefused) {
  v1::ModelConfig config = GoodConfig();
  GetParam().spoil(config);
  EXPECT_THAT(CheckModelConfig(config),
              StatusIs(GetParam().code, HasSubstr(GetParam().message)));
}

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

BadConfig LexicalConfig(const std::string& name,
                        std::function<void(v1::ModelConfig&)> spoil,
                        const std::string& message) {
  return {name,
          [spoil](v1::ModelConfig& config) {
            config = GoodConfig({.lexical_weight = 0.3});
            spoil(config);
          },
          kInvalid, message};
}

constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;
constexpr auto kNewer = absl::StatusCode::kFailedPrecondition;

INSTANTIATE_TEST_SUITE_P(
    Fields, BadConfigTest,
    ::testing::Values(
        BadConfig{"NoFormat", [](auto& c) { c.set_format_version(0); },
                  kInvalid, "format_version is 0"},
        BadConfig{"NewerFormat", [](auto& c) { c.set_format_version(5); },
                  kNewer, "format_version is 5"},
        BadConfig{"SecondFormatWithoutLexical",
                  [](auto& c) { c.set_format_version(2); }, kInvalid,
                  "format_version is 2"},
        BadConfig{"NoTower", [](auto& c) { c.clear_tower(); }, kInvalid,
                  "tower"},
        BadConfig{"UnknownTower",
                  [](auto& c) { c.set_tower(static_cast<v1::TowerKind>(99)); },
                  kInvalid, "tower is 99"},
        BadConfig{"ClsmWithoutWindow",
                  [](auto& c) { c.set_tower(v1::TOWER_KIND_CLSM); }, kInvalid,
                  "clsm_window is 0"},
        BadConfig{"ClsmEvenWindow",
                  [](auto& c) {
                    c.set_tower(v1::TOWER_KIND_CLSM);
                    c.set_clsm_window(4);
                  },
                  kInvalid, "clsm_window is 4; it must be odd"},
        BadConfig{"ClsmWideWindow",
                  [](auto& c) {
                    c.set_tower(v1::TOWER_KIND_CLSM);
                    c.set_clsm_window(17);
                  },
                  kInvalid, "clsm_window is 17"},
        BadConfig{"ClsmWithoutConvolution",
                  [](auto& c) {
                    c.set_tower(v1::TOWER_KIND_CLSM);
                    c.set_clsm_window(3);
                    c.clear_hidden_dims();
                  },
                  kInvalid, "number of hidden_dims is 0"},
        BadConfig{"ClsmWithoutTanh",
                  [](auto& c) {
                    c.set_tower(v1::TOWER_KIND_CLSM);
                    c.set_clsm_window(3);
                    c.set_activation(v1::ACTIVATION_IDENTITY);
                  },
                  kInvalid, "TOWER_KIND_CLSM has ACTIVATION_TANH"},
        BadConfig{"DssmWithWindow", [](auto& c) { c.set_clsm_window(3); },
                  kInvalid, "clsm_window is 3"},
        BadConfig{"Ssi", [](auto& c) { c.set_tower(v1::TOWER_KIND_SSI); },
                  kInvalid, "TOWER_KIND_SSI"},
        BadConfig{"LinearWithHiddenLayers",
                  [](auto& c) { c.set_tower(v1::TOWER_KIND_LINEAR); }, kInvalid,
                  "hidden_dims"},
        BadConfig{"DssmWithoutTanh",
                  [](auto& c) { c.set_activation(v1::ACTIVATION_IDENTITY); },
                  kInvalid, "activation is ACTIVATION_IDENTITY"},
        BadConfig{"TooManyLayers",
                  [](auto& c) {
                    for (int i = 0; i < 20; ++i) c.add_hidden_dims(2);
                  },
                  kInvalid, "hidden_dims is 22"},
        BadConfig{"LayerWithoutWidth", [](auto& c) { c.set_hidden_dims(1, 0); },
                  kInvalid, "hidden_dims"},
        BadConfig{"LayerTooWide", [](auto& c) { c.set_hidden_dims(1, 16385); },
                  kInvalid, "16384"},
        BadConfig{"NoEmbeddingDim", [](auto& c) { c.set_embedding_dim(0); },
                  kInvalid, "embedding_dim is 0"},
        BadConfig{"HugeEmbeddingDim",
                  [](auto& c) { c.set_embedding_dim(0xFFFFFFFF); }, kInvalid,
                  "embedding_dim is 4294967295"},
        BadConfig{"NoFeatures", [](auto& c) { c.clear_features(); }, kInvalid,
                  "features"},
        BadConfig{
            "NewerNormalizer",
            [](auto& c) { c.mutable_features()->set_normalizer_version(9); },
            kNewer, "features.normalizer_version is 9"},
        BadConfig{"NgramLengthBeyondLimit",
                  [](auto& c) { c.mutable_features()->set_ngram_length(9); },
                  kInvalid, "ngram_length is 9"},
        BadConfig{"NoNgrams",
                  [](auto& c) { c.mutable_features()->set_num_ngrams(0); },
                  kInvalid, "num_ngrams is 0"},
        BadConfig{"TooManyNgrams",
                  [](auto& c) {
                    c.mutable_features()->set_num_ngrams(kMaxVocabularySize +
                                                         1);
                  },
                  kInvalid, "num_ngrams is 67108865"},
        BadConfig{"BucketsAreNotTheRows",
                  [](auto& c) { c.mutable_features()->set_hash_buckets(11); },
                  kInvalid, "hash_buckets is 11"},
        BadConfig{"WordsWithoutKind",
                  [](auto& c) { c.mutable_features()->set_num_words(3); },
                  kInvalid, "num_words is 3"},
        BadConfig{"BigramsWithoutKind",
                  [](auto& c) { c.mutable_features()->set_num_bigrams(3); },
                  kInvalid, "num_bigrams is 3"},
        BadConfig{"KindWithoutBigrams",
                  [](auto& c) {
                    c.mutable_features()->set_kind(
                        v1::FEATURE_KIND_LETTERS_AND_BIGRAMS);
                  },
                  kInvalid, "num_bigrams is 0"},
        BadConfig{"ClsmWithBigrams",
                  [](auto& c) {
                    c.set_tower(v1::TOWER_KIND_CLSM);
                    c.set_clsm_window(3);
                    c.mutable_features()->set_kind(
                        v1::FEATURE_KIND_LETTERS_AND_BIGRAMS);
                    c.mutable_features()->set_num_bigrams(3);
                  },
                  kInvalid, "TOWER_KIND_CLSM has no bigrams"},
        BadConfig{"LettersWithoutKind",
                  [](auto& c) {
                    c.mutable_features()->set_kind(v1::FEATURE_KIND_WORDS);
                  },
                  kInvalid, "ngram_length is 3"},
        BadConfig{"TfIdf",
                  [](auto& c) {
                    c.mutable_features()->set_weighting(
                        v1::FEATURE_WEIGHTING_TF_IDF);
                  },
                  kUnimplemented, "weighting"},
        BadConfig{"NoScoreKind", [](auto& c) { c.clear_score_kind(); },
                  kInvalid, "score_kind"},
        BadConfig{"SsiScore",
                  [](auto& c) { c.set_score_kind(v1::SCORE_KIND_SSI_DOT); },
                  kInvalid, "it must be SCORE_KIND_COSINE"},
        BadConfig{"NegativeGamma", [](auto& c) { c.set_gamma(-1); }, kInvalid,
                  "gamma is -1"},
        BadConfig{"GammaIsNan",
                  [](auto& c) {
                    c.set_gamma(std::numeric_limits<double>::quiet_NaN());
                  },
                  kInvalid, "gamma"},
        BadConfig{"ClsmWindow", [](auto& c) { c.set_clsm_window(3); }, kInvalid,
                  "clsm_window is 3"},
        BadConfig{"SsiSpec", [](auto& c) { c.mutable_ssi(); }, kInvalid,
                  "ssi"}),
    [](const auto& config) { return config.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Lexical, BadConfigTest,
    ::testing::Values(
        LexicalConfig(
            "FirstFormat", [](auto& c) { c.set_format_version(1); },
            "format_version is 1; the other fields ask for 2"),
        LexicalConfig(
            "WeightOfOne", [](auto& c) { c.mutable_lexical()->set_weight(1); },
            "lexical.weight is 1"),
        LexicalConfig(
            "NegativeWeight",
            [](auto& c) { c.mutable_lexical()->set_weight(-0.1); },
            "lexical.weight is -0.1"),
        LexicalConfig(
            "WeightIsNan",
            [](auto& c) { c.mutable_lexical()->set_weight(NAN); },
            "lexical.weight"),
        LexicalConfig(
            "NoNgramLength",
            [](auto& c) { c.mutable_lexical()->clear_ngram_length(); },
            "lexical.ngram_length is 0"),
        LexicalConfig(
            "TooManyBuckets",
            [](auto& c) { c.mutable_lexical()->set_num_buckets(65537); },
            "lexical.num_buckets is 65537"),
        LexicalConfig(
            "Ssi", [](auto& c) { c.set_tower(v1::TOWER_KIND_SSI); },
            "TOWER_KIND_SSI")),
    [](const auto& config) { return config.param.name; });

TEST(ModelConfigTest, SaysWhichTensorsAndFilesToExpect) {
  const v1::ModelConfig config =
      GoodConfig({.hidden_dims = {6},
                  .shared_towers = true,
                  .features = v1::FEATURE_KIND_LETTERS_AND_WORDS});
  const std::vector<ExpectedTensor> tensors = ExpectedTensors(config);
  ASSERT_EQ(tensors.size(), 4u);
  EXPECT_EQ(tensors[0].name, "query.0.weight");
  EXPECT_THAT(tensors[0].shape, ElementsAre(13, 6));
  EXPECT_EQ(tensors[3].name, "query.1.bias");
  EXPECT_THAT(tensors[3].shape, ElementsAre(4));
  EXPECT_THAT(ExpectedFiles(config),
              ElementsAre("config.json", "ngrams.txt", "weights.safetensors",
                          "words.txt"));
  EXPECT_THAT(ExpectedFiles(GoodConfig({.hash_buckets = 5})),
              ElementsAre("config.json", "weights.safetensors"));
}

}  // namespace
}  // namespace semrank
