// RankingEngine and Explainer with a model that has a lexical part: the cosine
// of both parts joined.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "server/base/errors.h"
#include "server/base/vector_encoding.h"
#include "server/ranking/explainer.h"
#include "tests/server/vectors/engine_fixture.h"
#include "tests/support/tiny_ssi_model.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr double kWeight = 0.3;
// A score is one sum of two float32 products.
constexpr double kRounding = 1e-6;

class LexicalRankingTest : public EngineFixture {
 protected:
  LexicalRankingTest() {
    served_.model = MakeTinyModel({.lexical_weight = kWeight});
  }

  // Scores by candidate, and their parts.
  std::vector<float> Scores(const std::string& query,
                            const std::vector<std::string>& titles,
                            const PartsWanted& wanted = {}) {
    EXPECT_THAT(Rank(query, titles, {.wanted = wanted}), IsOk());
    return ScoresByCandidate(static_cast<int>(titles.size()));
  }
  float LexicalCosineOf(const std::string& query, const std::string& title) {
    LexicalBatch batch;
    served_.model->lexical()->AppendText(query, batch);
    served_.model->lexical()->AppendText(title, batch);
    LexicalQuery prepared;
    prepared.Prepare(batch[0]);
    return prepared.Cosine(batch[1]);
  }

  const std::vector<std::string> titles_ = {
      "vim", "vi improved", "photo editor", "title number 7", "größe", ""};
};

TEST_F(LexicalRankingTest, TheScoreIsTheCosineOfBothPartsJoined) {
  const std::vector<float> scores = Scores("vim editor", titles_);
  const std::vector<float> semantic =
      Scores("vim editor", titles_, {.parts = ModelParts::kSemantic});
  const std::vector<float> lexical =
      Scores("vim editor", titles_, {.parts = ModelParts::kLexical});
  const std::vector<float> query = VectorOf(Side::kQuery, "vim editor");
  for (std::size_t i = 0; i < titles_.size(); ++i) {
    EXPECT_NEAR(scores[i], (1 - kWeight) * semantic[i] + kWeight * lexical[i],
                kRounding);
    EXPECT_EQ(lexical[i], LexicalCosineOf("vim editor", titles_[i]));
    const std::vector<float> title = VectorOf(Side::kDocument, titles_[i]);
    double dot = 0;
    for (int d = 0; d < kDim; ++d) dot += double{query[d]} * title[d];
    EXPECT_NEAR(semantic[i], dot, kRounding);
  }
  EXPECT_GT(lexical[0], lexical[1]);
  EXPECT_EQ(scores.back(), 0);
}

TEST_F(LexicalRankingTest, ScoresAreTheSameBitsCachedOrNotAloneOrTogether) {
  const std::vector<std::string> titles = NumberedTitles(300);
  const std::vector<float> cold = Scores("number 7919", titles);
  EXPECT_EQ(Scores("number 7919", titles), cold);
  EXPECT_EQ(result_.cache.misses, 0u);
  UseCache(0);
  for (int i = 0; i < 300; i += 17) {
    EXPECT_EQ(Scores("number 7919", {titles[i]})[0], cold[i]) << i;
  }
}

TEST_F(LexicalRankingTest, TextsThatWereEmbeddedFirstHaveTheirEntriesToo) {
  const std::vector<float> cold = Scores("vim editor", titles_);
  UseCache(8 << 20);
  ASSERT_THAT(Embed(Side::kDocument, titles_), IsOk());
  EXPECT_EQ(Scores("vim editor", titles_), cold);
  EXPECT_EQ(result_.cache.misses, 0u);
}

TEST_F(LexicalRankingTest, PartsComeBesideTheScoresInTheirOrder) {
  ASSERT_THAT(
      Rank("vim editor", titles_, {.top_k = 3, .wanted = {.with_parts = true}}),
      IsOk());
  const std::vector<RankedDocument> ranking = result_.ranking;
  const PartScores parts = result_.parts;
  ASSERT_THAT(ranking, SizeIs(3));
  ASSERT_THAT(parts.semantic, SizeIs(3));
  ASSERT_THAT(parts.lexical, SizeIs(3));
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string& title = titles_[ranking[i].index];
    EXPECT_EQ(parts.lexical[i], LexicalCosineOf("vim editor", title));
    EXPECT_EQ(parts.semantic[i], Scores("vim editor", {title},
                                        {.parts = ModelParts::kSemantic})[0]);
    EXPECT_EQ(ranking[i].score, Scores("vim editor", {title})[0]);
  }
  ASSERT_THAT(Rank("vim editor", titles_), IsOk());
  EXPECT_THAT(result_.parts.semantic, IsEmpty());
  EXPECT_THAT(result_.parts.lexical, IsEmpty());
}

TEST_F(LexicalRankingTest, WithWeightZeroTheTowerScoresAlone) {
  served_ = {.model = MakeTinyModel({.lexical_weight = 0}), .number = 1};
  EXPECT_EQ(Scores("vim editor", titles_),
            Scores("vim editor", titles_, {.parts = ModelParts::kSemantic}));
  EXPECT_NE(Scores("vim editor", titles_, {.parts = ModelParts::kLexical})[0],
            0);
}

TEST_F(LexicalRankingTest, WithoutALexicalPartTheSemanticPartIsAll) {
  served_ = {.model = MakeTinyModel(), .number = 1};
  const PartsWanted wanted = {.parts = ModelParts::kSemantic,
                              .with_parts = true};
  EXPECT_EQ(Scores("vim editor", titles_, wanted),
            Scores("vim editor", titles_));
  ASSERT_THAT(Rank("vim editor", titles_, {.wanted = wanted}), IsOk());
  EXPECT_THAT(result_.parts.semantic, SizeIs(titles_.size()));
  EXPECT_THAT(result_.parts.lexical, IsEmpty());
}

TEST_F(LexicalRankingTest, PartsThatTheModelDoesNotHaveAreRefused) {
  const auto refusal = [&](ModelParts parts) {
    const absl::Status status = Rank("q", {"t"}, {.wanted = {.parts = parts}});
    EXPECT_EQ(ErrorValues(status)["field"], "parts");
    return status;
  };
  EXPECT_THAT(refusal(static_cast<ModelParts>(7)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is 7")));
  served_.model = MakeTinyModel();
  EXPECT_THAT(refusal(ModelParts::kLexical),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("tiny has no lexical part")));
  const TinySsiModel ssi{TinySsiOptions()};
  served_ = {.model = ssi.model(), .number = 1};
  EXPECT_THAT(refusal(ModelParts::kLexical),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(refusal(ModelParts::kSemantic),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("are not cosines")));
}

TEST_F(LexicalRankingTest, BesideGivenVectorsTheSemanticPartIsScored) {
  std::string bytes;
  EncodeFloat32(VectorOf(Side::kDocument, "a title"), bytes);
  for (const ModelParts parts : {ModelParts::kBoth, ModelParts::kSemantic}) {
    ASSERT_THAT(
        Rank("q", {"a title"}, {.vectors = bytes, .wanted = {.parts = parts}}),
        IsOk());
    EXPECT_EQ(ScoresByCandidate(2)[0], ScoresByCandidate(2)[1]);
  }
  for (const PartsWanted wanted : {PartsWanted{.parts = ModelParts::kLexical},
                                   PartsWanted{.with_parts = true}}) {
    EXPECT_THAT(Rank("q", {}, {.vectors = bytes, .wanted = wanted}),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("no lexical part")));
  }
}

class LexicalExplanationTest : public LexicalRankingTest {
 protected:
  void Explain(std::string_view query, std::string_view title,
               ModelParts parts = ModelParts::kBoth) {
    const Explainer explainer(ranking_.get());
    Explainer::Request request;
    request.parts = parts;
    result_ = {};
    ASSERT_THAT(explainer.Read(served_, query, title, request), IsOk());
    ASSERT_THAT(explainer.Check(served_, request), IsOk());
    ASSERT_THAT(explainer.RunSlice(served_, FakeCaller(), request, result_),
                IsOk());
  }
  static double LexicalSum(const std::vector<WordContribution>& words) {
    double sum = 0;
    for (const WordContribution& word : words) {
      for (const NgramMatch& match : word.matches) sum += match.lexical;
    }
    return sum;
  }

  Explanation result_;
};

TEST_F(LexicalExplanationTest, PartsAddUpToTheScoreOfRank) {
  for (const ModelParts parts :
       {ModelParts::kBoth, ModelParts::kSemantic, ModelParts::kLexical}) {
    Explain("banana banana photo editing", "photo editor bandana", parts);
    EXPECT_EQ(result_.parts.score,
              Scores("banana banana photo editing", {"photo editor bandana"},
                     {.parts = parts})[0]);
    EXPECT_NEAR(result_.parts.score,
                result_.parts.semantic + result_.parts.lexical, 1e-5);
    EXPECT_NEAR(LexicalSum(result_.query_words), result_.parts.lexical, 1e-5);
    EXPECT_NEAR(LexicalSum(result_.title_words), result_.parts.lexical, 1e-5);
  }
}

TEST_F(LexicalExplanationTest, TellsWholeWordsFromCommonTrigrams) {
  Explain("photo editing", "photo editor");
  const WordContribution& photo = result_.query_words[0];
  EXPECT_TRUE(photo.in_other_text);
  EXPECT_THAT(photo.matches, SizeIs(5));  // #ph pho hot oto to#
  const WordContribution& editing = result_.query_words[1];
  EXPECT_FALSE(editing.in_other_text);
  std::vector<std::string> ngrams;
  for (const NgramMatch& match : editing.matches) {
    ngrams.push_back(match.ngram);
    EXPECT_GT(match.lexical, 0);
  }
  EXPECT_THAT(ngrams, ::testing::ElementsAre("#ed", "edi", "dit"));
}

TEST_F(LexicalExplanationTest, AWordsContributionHasTheSameTwoParts) {
  Explain("photo editing", "photo editor");
  for (const WordContribution& word : result_.title_words) {
    EXPECT_NEAR(word.without.score,
                word.without.semantic + word.without.lexical, 1e-5);
  }
  const float score = Scores("editing", {"photo editor"})[0];
  EXPECT_EQ(result_.query_words[0].without.score, score);
}

}  // namespace
}  // namespace semrank
