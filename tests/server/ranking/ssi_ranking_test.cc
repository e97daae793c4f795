// RankingEngine with SSI models: the dot product of cached vectors, plus what
// the words of both texts add.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/base/errors.h"
#include "server/base/vector_encoding.h"
#include "server/models/model_slot.h"
#include "server/ranking/ranking_engine.h"
#include "server/vectors/embedding_engine.h"
#include "tests/support/fake_caller.h"
#include "tests/support/run_engines.h"
#include "tests/support/status_matchers.h"
#include "tests/support/tiny_ssi_model.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class SsiRankingTest : public ::testing::TestWithParam<TinySsiCase> {
 protected:
  explicit SsiRankingTest(const TinySsiOptions& options)
      : tiny_(options),
        cache_(DocumentVectorCache::Create(1 << 20).value()),
        embedder_(cache_.get(), &metrics_),
        served_{.model = tiny_.model(), .number = 0} {}
  SsiRankingTest() : SsiRankingTest(GetParam().options) {}

  absl::Status Rank(const std::string& query,
                    const std::vector<std::string>& titles,
                    RankInput input = {}) {
    const std::vector<std::string_view> views(titles.begin(), titles.end());
    input.query = query;
    input.titles = views;
    return RankAll(ranking_, served_, input, FakeCaller(), result_);
  }
  std::vector<float> ScoresByCandidate(std::size_t count) const {
    std::vector<float> scores(count);
    for (const RankedDocument& d : result_.ranking) scores[d.index] = d.score;
    return scores;
  }
  absl::Status Embed(Side side, std::string_view text) {
    return EmbedAll(embedding_, served_, {side, std::span(&text, 1)},
                    FakeCaller(), embedded_);
  }

  TinySsiModel tiny_;
  Metrics metrics_;
  std::unique_ptr<DocumentVectorCache> cache_;
  const TextEmbedder embedder_;
  const RankingEngine ranking_{Limits(), &embedder_, &metrics_};
  const EmbeddingEngine embedding_{Limits(), &embedder_, &metrics_};
  ServedModel served_;
  RankResult result_;
  EmbedResult embedded_;
};

TEST_P(SsiRankingTest, ScoresAsThePaperSaysCachedOrNotAloneOrTogether) {
  const std::vector<std::string> titles = TinySsiModel::Texts();
  for (const std::string query : {"w0 w3 w3 w10", "w5 w9 unknown", "unknown"}) {
    ASSERT_THAT(Rank(query, titles), IsOk());
    ASSERT_THAT(result_.ranking, SizeIs(titles.size()));
    const std::vector<float> scores = ScoresByCandidate(titles.size());
    for (std::size_t t = 0; t < titles.size(); ++t) {
      // A few dozen products of numbers up to 3 in float32.
      EXPECT_NEAR(scores[t], tiny_.Score(query, titles[t]), 1e-5) << titles[t];
    }
    EXPECT_TRUE(std::ranges::is_sorted(result_.ranking, std::greater<>(),
                                       &RankedDocument::score));
    ASSERT_THAT(Rank(query, titles), IsOk());
    EXPECT_EQ(result_.cache.misses, 0u);
    EXPECT_EQ(ScoresByCandidate(titles.size()), scores);
    for (std::size_t t = 0; t < titles.size(); ++t) {
      ASSERT_THAT(Rank(query, {titles[t]}), IsOk());
      EXPECT_EQ(result_.ranking[0].score, scores[t]);
    }
  }
}

TEST_P(SsiRankingTest, MinScoreIsInUnitsOfTheScore) {
  const std::vector<std::string> titles = TinySsiModel::Texts();
  ASSERT_THAT(Rank("w0 w1", titles), IsOk());
  const float third = result_.ranking[2].score;
  ASSERT_THAT(Rank("w0 w1", titles, {.min_score = third}), IsOk());
  ASSERT_GE(result_.ranking.size(), 3u);
  EXPECT_GE(result_.ranking.back().score, third);
}

TEST_P(SsiRankingTest, PassesTheSelfTest) {
  EXPECT_THAT(SelfTest(*served_.model), IsOk());
}

// What a vector alone cannot say is not guessed.
TEST_P(SsiRankingTest, GivenVectorsAreForModelsOfVectorsAlone) {
  const bool alone = GetParam().name == "NoIdentity";
  std::string bytes(5 * sizeof(float), '\0');
  if (served_.model->embedding_dim() > 0) {
    ASSERT_THAT(Embed(Side::kDocument, "w1 w2 w2"), IsOk());
    EncodeFloat32(embedded_.vectors, bytes);
  }
  const absl::Status status = Rank("w0 w1", {}, {.vectors = bytes});
  if (!alone) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                                 HasSubstr("send titles")));
    return;
  }
  ASSERT_THAT(status, IsOk());
  const float score = result_.ranking[0].score;
  ASSERT_THAT(Rank("w0 w1", {"w1 w2 w2"}), IsOk());
  EXPECT_EQ(result_.ranking[0].score, score);
}

TEST_P(SsiRankingTest, TextsAreEmbeddedUnlessThereAreNoVectors) {
  const absl::Status status = Embed(Side::kQuery, "w0");
  if (served_.model->embedding_dim() > 0) {
    EXPECT_THAT(status, IsOk());
    EXPECT_THAT(embedded_.vectors, SizeIs(served_.model->embedding_dim()));
  } else {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                                 HasSubstr("has no vectors")));
    EXPECT_EQ(ErrorReason(status), "INVALID_FIELD");
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, SsiRankingTest,
                         ::testing::ValuesIn(AllTinySsiCases()),
                         [](const auto& c) { return c.param.name; });

class NoIdentityRankingTest : public SsiRankingTest {
 protected:
  NoIdentityRankingTest()
      : SsiRankingTest(
            TinySsiOptions{.variant = v1::SSI_VARIANT_LOW_RANK_NO_IDENTITY}) {}
};

TEST_F(NoIdentityRankingTest, AVectorThatCannotBeScoredIsItsOwnProblem) {
  std::string bytes;
  EncodeFloat32(std::vector<float>{1, 2, 3, 4, 1e20f, 1, 2, 3, 4, 5}, bytes);
  ASSERT_THAT(Rank("w0 w1", {"w2"}, {.vectors = bytes}), IsOk());
  EXPECT_THAT(result_.ranking, SizeIs(2));
  ASSERT_THAT(result_.problems, SizeIs(1));
  EXPECT_EQ(result_.problems[0].index, 1u);
  EXPECT_EQ(ErrorReason(result_.problems[0].status), "BAD_VECTOR");
}

}  // namespace
}  // namespace semrank
