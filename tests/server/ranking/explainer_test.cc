#include "server/ranking/explainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "model/nn/clsm_tower.h"
#include "server/base/errors.h"
#include "tests/support/fake_caller.h"
#include "tests/support/run_engines.h"
#include "tests/support/status_matchers.h"
#include "tests/support/tiny_model.h"
#include "tests/support/tiny_ssi_model.h"

namespace semrank {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int kBuckets = 512;
constexpr int kUnits = 8;
constexpr int kWindow = 3;

// The tiny model with a convolutional query tower of random weights.
std::shared_ptr<const TwoTowerModel> MakeClsmModel() {
  struct Weights {
    std::vector<float> convolution, bias, dense, dense_bias;
  };
  const auto tiny = MakeTinyModel();
  const int dim = tiny->embedding_dim();
  auto weights = std::make_shared<Weights>();
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-0.5f, 0.5f);
  weights->convolution.resize(kBuckets * kWindow * kUnits);
  weights->dense.resize(kUnits * dim);
  for (float& value : weights->convolution) value = uniform(random);
  for (float& value : weights->dense) value = uniform(random);
  weights->bias.resize(kUnits);
  weights->dense_bias.resize(dim);
  const std::vector<LayerView> layers = {
      {kBuckets * kWindow, kUnits, weights->convolution.data(),
       weights->bias.data()},
      {kUnits, dim, weights->dense.data(), weights->dense_bias.data()}};
  std::shared_ptr<const Tower> query =
      ClsmTower::Create(layers, kWindow, weights).value();
  const std::shared_ptr<const Tower> document(tiny,
                                              &tiny->tower(Side::kDocument));
  return TwoTowerModel::Create(tiny->version(), tiny->config(),
                               tiny->featurizer(), query, document)
      .value();
}

class ExplainerTest : public ::testing::Test {
 protected:
  absl::Status Explain(std::string_view query, std::string_view title) {
    Explainer::Request request;
    result_ = {};
    num_turns_ = 0;
    absl::Status status = explainer_.Read(served_, query, title, request);
    if (status.ok()) status = explainer_.Check(served_, request);
    num_texts_ = request.num_texts;
    while (status.ok()) {
      ++num_turns_;
      const auto progress =
          explainer_.RunSlice(served_, FakeCaller(), request, result_);
      if (!progress.ok()) status = progress.status();
      if (progress.ok() && *progress == Progress::kDone) break;
    }
    return status;
  }
  float RankScore(std::string_view query, std::string_view title) {
    RankResult ranked;
    EXPECT_THAT(
        RankAll(engine_, served_, {.query = query, .titles = {&title, 1}},
                FakeCaller(), ranked),
        IsOk());
    return ranked.ranking[0].score;
  }

  static constexpr Limits kLimits = {.max_texts_per_request = 3'000,
                                     .max_text_bytes = 8'000,
                                     .max_explain_words = 2'000};
  Metrics metrics_;
  std::unique_ptr<DocumentVectorCache> cache_ =
      DocumentVectorCache::Create(1 << 20).value();
  const TextEmbedder embedder_{cache_.get(), &metrics_};
  RankingEngine engine_{kLimits, &embedder_, &metrics_};
  Explainer explainer_{&engine_};
  ServedModel served_{.model = MakeTinyModel()};
  Explanation result_;
  int num_turns_ = 0;
  std::int64_t num_texts_ = 0;
};

TEST_F(ExplainerTest, ScoresAreThoseOfRankToTheLastBit) {
  ASSERT_THAT(Explain("Edit photos", "photo editor, photo viewer"), IsOk());
  EXPECT_EQ(result_.parts.score,
            RankScore("edit photos", "photo editor photo viewer"));
  ASSERT_THAT(result_.query_words, SizeIs(2));
  ASSERT_THAT(result_.title_words, SizeIs(4));
  EXPECT_EQ(result_.query_words[0].word, "edit");
  EXPECT_EQ(result_.query_words[0].without.score,
            RankScore("photos", "photo editor photo viewer"));
  EXPECT_EQ(result_.query_words[1].without.score,
            RankScore("edit", "photo editor photo viewer"));
  EXPECT_EQ(result_.title_words[0].without.score,
            RankScore("edit photos", "editor photo viewer"));
  EXPECT_EQ(result_.title_words[3].without.score,
            RankScore("edit photos", "photo editor photo"));
  EXPECT_EQ(num_texts_, 2 + 6);
}

TEST_F(ExplainerTest, WithoutItsOnlyWordATextScoresZero) {
  ASSERT_THAT(Explain("photos", "photo"), IsOk());
  EXPECT_NE(result_.parts.score, 0);
  EXPECT_EQ(result_.query_words[0].without.score, 0);
  EXPECT_EQ(result_.title_words[0].without.score, 0);
}

TEST_F(ExplainerTest, ATextWithoutWordsHasNoneToExplain) {
  ASSERT_THAT(Explain("?", ""), IsOk());
  EXPECT_THAT(result_.query_words, IsEmpty());
  EXPECT_THAT(result_.title_words, IsEmpty());
  EXPECT_EQ(result_.parts.score, 0);
}

TEST_F(ExplainerTest, CountsFeaturesAndThoseTheModelKnows) {
  ASSERT_THAT(Explain("photo", "a"), IsOk());
  EXPECT_EQ(result_.query_words[0].num_features, 5u);  // #ph pho hot oto to#
  EXPECT_EQ(result_.query_words[0].num_known_features, 5u);

  // A model that knows two n-grams, and no such word.
  const auto tiny = MakeTinyModel({.num_buckets = 2});
  const auto ngrams = NgramVocabulary::FromList(3, {"#ph", "pho"});
  served_.model =
      TwoTowerModel::Create(tiny->version(), tiny->config(),
                            Featurizer::Create(*ngrams, std::nullopt).value(),
                            {tiny, &tiny->tower(Side::kQuery)},
                            {tiny, &tiny->tower(Side::kDocument)})
          .value();
  ASSERT_THAT(Explain("photo disk", "a"), IsOk());
  EXPECT_EQ(result_.query_words[0].num_known_features, 2u);
  EXPECT_EQ(result_.query_words[1].num_features, 4u);
  EXPECT_EQ(result_.query_words[1].num_known_features, 0u);
}

TEST_F(ExplainerTest, LongTextsTakeSeveralTurns) {
  std::string title;
  for (int i = 0; i < 1'500; ++i) title += "w" + std::to_string(i) + " ";
  ASSERT_THAT(Explain("q", title), IsOk());
  EXPECT_GT(num_turns_, 10);
  EXPECT_THAT(result_.title_words, SizeIs(1'500));
}

struct RefusedExplainCase {
  std::string_view name;
  std::string query, title;
  std::string_view reason, field;
};

class RefusedExplainTest
    : public ExplainerTest,
      public ::testing::WithParamInterface<RefusedExplainCase> {};

TEST_P(RefusedExplainTest, NamesReasonAndField) {
  const absl::Status status = Explain(GetParam().query, GetParam().title);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(ErrorReason(status), GetParam().reason);
  EXPECT_EQ(ErrorValues(status)["field"], GetParam().field);
}

std::string Repeated(std::string_view text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

INSTANTIATE_TEST_SUITE_P(
    Cases, RefusedExplainTest,
    ::testing::ValuesIn<RefusedExplainCase>({
        {"EmptyQuery", "", "t", "EMPTY_QUERY", "query"},
        {"LongQuery", std::string(8'001, 'q'), "t", "TEXT_TOO_LONG", "query"},
        {"LongTitle", "q", std::string(8'001, 't'), "TEXT_TOO_LONG", "title"},
        {"QueryUtf8", "\xff", "t", "INVALID_UTF8", "query"},
        {"TitleUtf8", "q", "\xff", "INVALID_UTF8", "title"},
        {"ManyWords", "q", Repeated("a ", 2'000), "TOO_MANY_TEXTS", "query"},
        // Each character adds three words.
        {"Ligatures", "q", Repeated("\xEF\xB7\xBA", 700), "TOO_MANY_TEXTS",
         "query"},
    }),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(ExplainerTest, ScoresOfEverySsiModelAreThoseOfRankToTheLastBit) {
  const std::vector<std::string> texts = TinySsiModel::Texts();
  for (const TinySsiCase& c : AllTinySsiCases()) {
    SCOPED_TRACE(c.name);
    const TinySsiModel tiny(c.options);
    served_.model = tiny.model();
    ++served_.number;  // the cache keeps the models apart
    for (const std::string& query : texts) {
      for (const std::string& title : texts) {
        if (query.empty()) continue;
        ASSERT_THAT(Explain(query, title), IsOk());
        EXPECT_EQ(result_.parts.score, RankScore(query, title));
      }
    }
  }
}

TEST_F(ExplainerTest, ClsmNamesTheWordsThatWonThePooling) {
  served_.model = MakeClsmModel();
  ASSERT_THAT(Explain("one two three four", "title"), IsOk());
  ASSERT_THAT(result_.query_pooling, SizeIs(5));
  EXPECT_THAT(result_.title_pooling, IsEmpty());  // that tower has none
  const std::vector<std::string> words = {"one", "two", "three", "four"};
  const std::vector<std::string> windows = {"one two", "one two three",
                                            "two three four", "three four"};
  float last = 2;
  for (const PoolingWinner& winner : result_.query_pooling) {
    EXPECT_LE(winner.activation, last);
    last = winner.activation;
    ASSERT_LT(winner.position, words.size());
    EXPECT_EQ(winner.word, words[winner.position]);
    EXPECT_EQ(winner.window, windows[winner.position]);
    EXPECT_LT(winner.unit, static_cast<std::uint32_t>(kUnits));
  }
}

}  // namespace
}  // namespace semrank
