// SSI models as files: every variant scores after the round trip what the
// paper's formula says, and what does not fit is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "model/format/model_bundle.h"
#include "model/format/model_config.h"
#include "model/nn/kernels.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/tiny_ssi_model.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

// As a ranker does it: dot product of the vectors, plus the sparse part.
float Score(const TwoTowerModel& model, std::string_view query,
            const std::vector<std::string_view>& titles, int title) {
  const int dim = model.embedding_dim();
  EmbedScratch scratch;
  std::vector<float> q(dim + 1), d(titles.size() * dim + 1);
  model.EmbedTexts(Side::kQuery, std::span(&query, 1), scratch, q.data());
  model.EmbedTexts(Side::kDocument, titles, scratch, d.data());
  float score = Dot(q.data(), &d[title * dim], dim);
  if (model.sparse_scorer() == nullptr) return score;
  BagBatch query_words, title_words;
  model.WeighTexts(std::span(&query, 1), query_words);
  model.WeighTexts(titles, title_words);
  SparseScorer::Scratch sparse;
  return score + SparseScorer::PreparedQuery(*model.sparse_scorer(),
                                             query_words, 0, sparse)
                     .Score(title_words, title);
}

class SsiModelTest : public ::testing::TestWithParam<TinySsiCase> {
 protected:
  const TempDir dir_;
  TinySsiModel tiny_{GetParam().options};
};

TEST_P(SsiModelTest, ScoresAsThePaperSays) {
  ASSERT_THAT(PublishModel(dir_.path(), tiny_.bundle()), IsOk());
  ASSERT_OK_AND_ASSIGN(const auto model, LoadModel(dir_.path()));
  EXPECT_EQ(model->config().score_kind(), v1::SCORE_KIND_SSI_DOT);
  const std::vector<std::string> texts = TinySsiModel::Texts();
  const std::vector<std::string_view> titles(texts.begin(), texts.end());
  for (const std::string& query : texts) {
    for (std::size_t t = 0; t < texts.size(); ++t) {
      const float score = Score(*model, query, titles, static_cast<int>(t));
      // A few dozen products of numbers up to 3 in float32.
      EXPECT_NEAR(score, tiny_.Score(query, texts[t]), 1e-5)
          << query << " | " << texts[t];
      EXPECT_EQ(score, Score(*model, query, {titles[t]}, 0)) << "alone";
    }
  }
}

TEST_P(SsiModelTest, ValuesBeyondTheFormatsRangesAreRefused) {
  for (const TensorView& tensor : tiny_.bundle().tensors) {
    std::vector<float>& values = tiny_.values(tensor.name);
    for (const float bad : {2e6f, -2e6f, 0.5f - 2e6f}) {
      const float good = std::exchange(values.back(), bad);
      EXPECT_THAT(
          PublishModel(dir_.path(), tiny_.bundle()),
          StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(tensor.name)));
      values.back() = good;
    }
  }
  EXPECT_THAT(PublishModel(dir_.path(), tiny_.bundle()), IsOk());
}

INSTANTIATE_TEST_SUITE_P(Variants, SsiModelTest,
                         ::testing::ValuesIn(AllTinySsiCases()),
                         [](const auto& c) { return c.param.name; });

TEST(SsiTensorsTest, CorrelatedWordsMustBeRows) {
  const TempDir dir;
  TinySsiModel tiny({.num_frequent_words = 4, .correlated_top_k = 2});
  std::vector<float>& rows = tiny.values(kCorrelatedTensor);
  // 4 is not a row; a half is none; a row after "none" would never be read.
  for (const std::vector<float>& bad :
       std::vector<std::vector<float>>{{4, -1}, {0.5, -1}, {-2, -1}, {-1, 0}}) {
    const std::vector<float> good = rows;
    std::copy(bad.begin(), bad.end(), rows.end() - 2);
    EXPECT_THAT(PublishModel(dir.path(), tiny.bundle()),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("must be a row below 4")));
    rows = good;
  }
  rows[0] = rows[1] = 3;
  EXPECT_THAT(PublishModel(dir.path(), tiny.bundle()), IsOk());
}

struct BadSsi {
  std::string name;
  std::function<void(v1::ModelConfig&)> spoil;
  std::string message;
};

class BadSsiConfigTest : public ::testing::TestWithParam<BadSsi> {};

TEST_P(BadSsiConfigTest, IsRefused) {
  v1::ModelConfig config = TinySsiModel().bundle().config;
  GetParam().spoil(config);
  EXPECT_THAT(CheckModelConfig(config),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(
    Fields, BadSsiConfigTest,
    ::testing::Values(
        BadSsi{"NoSpec", [](auto& c) { c.clear_ssi(); }, "ssi is absent"},
        BadSsi{"NoVariant", [](auto& c) { c.mutable_ssi()->clear_variant(); },
               "ssi.variant is 0"},
        BadSsi{"OnlyUnknownWords",
               [](auto& c) {
                 c.mutable_ssi()->set_unknown_word_buckets(
                     c.features().num_words());
               },
               "ssi.unknown_word_buckets"},
        BadSsi{"UnknownWordsWithoutIdentity",
               [](auto& c) {
                 c.mutable_ssi()->set_variant(
                     v1::SSI_VARIANT_LOW_RANK_NO_IDENTITY);
                 c.mutable_ssi()->set_unknown_word_buckets(1);
               },
               "ssi.unknown_word_buckets"},
        BadSsi{"Cosine",
               [](auto& c) { c.set_score_kind(v1::SCORE_KIND_COSINE); },
               "score_kind"},
        BadSsi{"Counts",
               [](auto& c) { c.mutable_features()->clear_weighting(); },
               "features.weighting"},
        BadSsi{"Letters",
               [](auto& c) {
                 c.mutable_features()->set_kind(v1::FEATURE_KIND_LETTERS);
                 c.mutable_features()->set_ngram_length(3);
                 c.mutable_features()->set_num_ngrams(9);
                 c.mutable_features()->set_num_words(0);
               },
               "features.kind"},
        BadSsi{"Tanh", [](auto& c) { c.set_activation(v1::ACTIVATION_TANH); },
               "activation"},
        BadSsi{"HiddenLayer", [](auto& c) { c.add_hidden_dims(3); },
               "hidden_dims"},
        BadSsi{"Gamma", [](auto& c) { c.set_gamma(1); }, "gamma"},
        BadSsi{"NoVectors", [](auto& c) { c.set_embedding_dim(0); },
               "embedding_dim"},
        BadSsi{"VectorsOfDiagonal",
               [](auto& c) {
                 c.mutable_ssi()->set_variant(v1::SSI_VARIANT_DIAGONAL);
               },
               "embedding_dim is 5"},
        BadSsi{"SharedTowers", [](auto& c) { c.set_shared_towers(true); },
               "shared_towers"},
        BadSsi{"AllWordsDense",
               [](auto& c) { c.mutable_ssi()->set_num_dense_words(12); },
               "ssi.num_dense_words is 12"},
        BadSsi{"AllWordsFrequent",
               [](auto& c) {
                 c.mutable_ssi()->set_num_frequent_words(12);
                 c.mutable_ssi()->set_correlated_top_k(2);
               },
               "ssi.num_frequent_words is 12"},
        BadSsi{"FrequentWordsWithoutTopK",
               [](auto& c) { c.mutable_ssi()->set_num_frequent_words(4); },
               "ssi.num_frequent_words"},
        BadSsi{"HashedLowRank",
               [](auto& c) { c.mutable_ssi()->set_pair_hash_buckets(4); },
               "ssi.pair_hash_buckets"},
        BadSsi{"LargeMatrix",
               [](auto& c) {
                 c.set_embedding_dim(0);
                 c.mutable_ssi()->set_variant(v1::SSI_VARIANT_FULL);
                 c.mutable_features()->set_num_words(30001);
               },
               "30000"},
        BadSsi{"HashKernelWithoutBuckets",
               [](auto& c) {
                 c.set_format_version(3);
                 c.set_embedding_dim(0);
                 c.mutable_ssi()->set_variant(v1::SSI_VARIANT_FULL_NO_IDENTITY);
               },
               "ssi.pair_hash_buckets is 0"},
        BadSsi{"SameRankOfNoWords",
               [](auto& c) {
                 c.set_format_version(3);
                 c.mutable_ssi()->set_correlated_pairing(
                     v1::CORRELATED_PAIRING_SAME_RANK);
               },
               "ssi.correlated_pairing is 2"},
        BadSsi{"UnknownPairing",
               [](auto& c) {
                 c.mutable_ssi()->set_num_frequent_words(4);
                 c.mutable_ssi()->set_correlated_top_k(2);
                 c.mutable_ssi()->set_correlated_pairing(
                     static_cast<v1::CorrelatedPairing>(3));
               },
               "ssi.correlated_pairing is 3"},
        BadSsi{"MixedPartsOfNoWords",
               [](auto& c) {
                 c.set_format_version(3);
                 c.mutable_ssi()->set_mixes_parts(true);
               },
               "ssi.mixes_parts is true"},
        BadSsi{"SecondFormatOfMixedParts",
               [](auto& c) {
                 c.set_format_version(2);
                 c.mutable_ssi()->set_mixes_parts(true);
               },
               "format_version is 2; the other fields ask for 3"},
        BadSsi{"LongVectors",
               [](auto& c) {
                 c.set_format_version(3);
                 c.set_embedding_dim(8193);
                 c.mutable_ssi()->set_num_frequent_words(4);
                 c.mutable_ssi()->set_correlated_top_k(2);
                 c.mutable_ssi()->set_correlated_pairing(
                     v1::CORRELATED_PAIRING_SAME_RANK);
               },
               "is 16386; it must be from 0 to 16384"},
        BadSsi{"UnknownWordsBesideBigrams",
               [](auto& c) {
                 c.set_format_version(2);
                 c.mutable_features()->set_kind(
                     v1::FEATURE_KIND_WORDS_AND_BIGRAMS);
                 c.mutable_features()->set_num_bigrams(3);
                 c.mutable_ssi()->set_unknown_word_buckets(1);
               },
               "ssi.unknown_word_buckets is 1"}),
    [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace semrank
