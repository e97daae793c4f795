#include "server/core/ranking_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "server/core/errors.h"
#include "server/core/vector_encoding.h"
#include "tests/support/fake_caller.h"
#include "tests/support/status_matchers.h"
#include "tests/support/tiny_model.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int kDim = 16;
constexpr Limits kSmallLimits = {.max_texts_per_request = 2'000,
                                 .max_text_bytes = 60,
                                 .max_inflight_texts = 3'000};
const std::string kTooLong(61, 'x');

std::vector<std::string> NumberedTitles(int count) {
  std::vector<std::string> titles;
  for (int i = 0; i < count; ++i) {
    titles.push_back("title number " + std::to_string(i * 7919));
  }
  return titles;
}

class RankingEngineTest : public ::testing::Test {
 protected:
  RankingEngineTest() { UseCache(8 << 20); }

  void UseCache(std::size_t capacity_bytes) {
    cache_ = DocumentVectorCache::Create(capacity_bytes).value();
    engine_ =
        std::make_unique<RankingEngine>(kSmallLimits, cache_.get(), &metrics_);
  }
  absl::Status Rank(std::string_view query,
                    const std::vector<std::string>& titles,
                    RankInput input = {}, const Caller& caller = FakeCaller()) {
    const std::vector<std::string_view> views(titles.begin(), titles.end());
    input.query = query;
    input.titles = views;
    return engine_->Rank(served_, input, caller, result_);
  }
  absl::Status Embed(Side side, const std::vector<std::string>& texts,
                     const Caller& caller = FakeCaller()) {
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    return engine_->Embed(served_, {side, views}, caller, embedded_);
  }
  std::vector<float> VectorOf(Side side, const std::string& text) {
    EXPECT_THAT(Embed(side, {text}), IsOk());
    return embedded_.vectors;
  }
  std::vector<std::uint32_t> Indices() const {
    std::vector<std::uint32_t> indices;
    for (const RankedDocument& d : result_.ranking) indices.push_back(d.index);
    return indices;
  }
  // Score of each candidate by its number; NaN for one that was left out.
  std::vector<float> ScoresByCandidate(int count) const {
    std::vector<float> scores(count, std::nanf(""));
    for (const RankedDocument& d : result_.ranking) scores[d.index] = d.score;
    return scores;
  }

  Metrics metrics_;
  std::unique_ptr<DocumentVectorCache> cache_;
  std::unique_ptr<RankingEngine> engine_;
  ServedModel served_{.model = MakeTinyModel(), .number = 0};
  RankResult result_;
  EmbedResult embedded_;
};

TEST_F(RankingEngineTest, OrdersByCosineOfTheTwoVectors) {
  const std::vector<std::string> titles = NumberedTitles(50);
  ASSERT_THAT(Rank("some query", titles), IsOk());
  const std::vector<float> query = VectorOf(Side::kQuery, "some query");
  ASSERT_THAT(result_.ranking, SizeIs(50));
  EXPECT_TRUE(std::ranges::is_sorted(result_.ranking, std::greater<>(),
                                     &RankedDocument::score));
  for (const RankedDocument& ranked : result_.ranking) {
    const std::vector<float> title =
        VectorOf(Side::kDocument, titles[ranked.index]);
    double dot = 0;
    for (int i = 0; i < kDim; ++i) dot += double{query[i]} * title[i];
    // Sixteen float32 products.
    EXPECT_NEAR(ranked.score, dot, 1e-6);
  }
}

TEST_F(RankingEngineTest, ScoresAreTheSameBitsCachedOrNotAloneOrTogether) {
  const std::vector<std::string> titles = NumberedTitles(300);
  ASSERT_THAT(Rank("q", titles), IsOk());
  const std::vector<float> cold = ScoresByCandidate(300);
  ASSERT_THAT(Rank("q", titles), IsOk());
  EXPECT_EQ(result_.cache.misses, 0u);
  EXPECT_EQ(ScoresByCandidate(300), cold);
  UseCache(0);
  for (int i = 0; i < 300; i += 17) {
    ASSERT_THAT(Rank("q", {titles[i]}), IsOk());
    EXPECT_EQ(result_.ranking[0].score, cold[i]) << i;
  }
}

TEST_F(RankingEngineTest, SecondIdenticalRankEmbedsNoTitle) {
  ASSERT_THAT(Rank("q", NumberedTitles(10)), IsOk());
  EXPECT_EQ(result_.cache.hits, 0u);
  EXPECT_EQ(result_.cache.misses, 10u);
  ASSERT_THAT(Rank("q", NumberedTitles(10)), IsOk());
  EXPECT_EQ(result_.cache.hits, 10u);
  EXPECT_EQ(result_.cache.misses, 0u);
  EXPECT_THAT(metrics_.Render(),
              HasSubstr("texts_embedded_total{side=\"document\"} 10\n"));
  EXPECT_THAT(metrics_.Render(),
              HasSubstr("cache_requests_total{result=\"hit\"} 10\n"));
}

TEST_F(RankingEngineTest, TitlesThatNormaliseAlikeShareAVector) {
  ASSERT_THAT(Rank("q", {"Blue  Shoes!", "blue shoes"}), IsOk());
  ASSERT_THAT(Rank("q", {"BLUE shoes"}), IsOk());
  EXPECT_EQ(result_.cache.hits, 1u);
}

TEST_F(RankingEngineTest, AnotherModelNeverGetsTheOldVectors) {
  ASSERT_THAT(Rank("q", {"a title"}), IsOk());
  served_ = {.model = MakeTinyModel({.seed = 2}), .number = 1};
  ASSERT_THAT(Rank("q", {"a title"}), IsOk());
  EXPECT_EQ(result_.cache.misses, 1u);
}

TEST_F(RankingEngineTest, TopKAndMinScoreCutTheSameOrder) {
  const std::vector<std::string> titles = NumberedTitles(40);
  ASSERT_THAT(Rank("q", titles), IsOk());
  const std::vector<RankedDocument> all = result_.ranking;
  ASSERT_THAT(Rank("q", titles, {.top_k = 5}), IsOk());
  EXPECT_TRUE(std::ranges::equal(result_.ranking, std::span(all).first(5)));
  ASSERT_THAT(Rank("q", titles, {.top_k = 5, .min_score = all[2].score}),
              IsOk());
  EXPECT_TRUE(std::ranges::equal(result_.ranking, std::span(all).first(3)));
}

TEST_F(RankingEngineTest, EqualScoresKeepTheOrderOfTheRequest) {
  ASSERT_THAT(Rank("q", {"same", "Same", "same!"}), IsOk());
  EXPECT_THAT(Indices(), ElementsAre(0, 1, 2));
}

TEST_F(RankingEngineTest, TextWithoutWordsScoresZero) {
  ASSERT_THAT(Rank("q", {"", "?!"}), IsOk());
  EXPECT_EQ(ScoresByCandidate(2), std::vector<float>({0, 0}));
  ASSERT_THAT(Rank("...", {"a title"}), IsOk());
  EXPECT_EQ(result_.ranking[0].score, 0);
}

TEST_F(RankingEngineTest, TooLongTitleIsItsOwnProblemAndTheRestIsRanked) {
  ASSERT_THAT(Rank("q", {"one", kTooLong, "two"}), IsOk());
  EXPECT_THAT(result_.ranking, SizeIs(2));
  ASSERT_THAT(result_.problems, SizeIs(1));
  EXPECT_EQ(result_.problems[0].index, 1u);
  EXPECT_EQ(ErrorReason(result_.problems[0].status), "TEXT_TOO_LONG");
  EXPECT_EQ(ErrorValues(result_.problems[0].status)["field"], "titles[1]");
  EXPECT_EQ(result_.cache.hits + result_.cache.misses, 2u);
}

TEST_F(RankingEngineTest, GivenVectorScoresWhatItsTextScoresToTheLastBit) {
  std::string bytes;
  EncodeFloat32(VectorOf(Side::kDocument, "a title"), bytes);
  ASSERT_THAT(Rank("q", {"a title", "other"}, {.vectors = bytes}), IsOk());
  const std::vector<float> scores = ScoresByCandidate(3);
  EXPECT_EQ(scores[0], scores[2]);
}

TEST_F(RankingEngineTest, GivenVectorNeedNotHaveLengthOne) {
  std::vector<float> vector = VectorOf(Side::kDocument, "a title");
  for (float& value : vector) value *= 1024;
  std::string bytes;
  EncodeFloat32(vector, bytes);
  ASSERT_THAT(Rank("q", {"a title"}, {.vectors = bytes}), IsOk());
  EXPECT_NEAR(ScoresByCandidate(2)[0], ScoresByCandidate(2)[1], 1e-6);
}

TEST_F(RankingEngineTest, NanVectorIsItsOwnProblem) {
  std::vector<float> vectors(2 * kDim, 1);
  vectors[3] = std::numeric_limits<float>::quiet_NaN();
  std::string bytes;
  EncodeFloat32(vectors, bytes);
  ASSERT_THAT(Rank("q", {"a title"}, {.vectors = bytes}), IsOk());
  ASSERT_THAT(result_.problems, SizeIs(1));
  EXPECT_EQ(result_.problems[0].index, 1u);
  EXPECT_EQ(ErrorReason(result_.problems[0].status), "BAD_VECTOR");
  EXPECT_THAT(result_.ranking, SizeIs(2));
}

struct RefusedCase {
  std::string_view name, query;
  std::vector<std::string> titles;
  std::string vectors;
  std::optional<float> min_score;
  std::string_view reason, field;
};

class RefusedRankTest : public RankingEngineTest,
                        public ::testing::WithParamInterface<RefusedCase> {};

TEST_P(RefusedRankTest, NamesReasonAndField) {
  const RefusedCase& c = GetParam();
  const absl::Status status =
      Rank(c.query, c.titles, {.vectors = c.vectors, .min_score = c.min_score});
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(ErrorReason(status), c.reason);
  EXPECT_EQ(ErrorValues(status)["field"], c.field);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, RefusedRankTest,
    ::testing::ValuesIn<RefusedCase>({
        {"EmptyQuery", "", {"t"}, "", {}, "EMPTY_QUERY", "query"},
        {"LongQuery", kTooLong, {"t"}, "", {}, "TEXT_TOO_LONG", "query"},
        {"QueryUtf8", "\xff", {"t"}, "", {}, "INVALID_UTF8", "query"},
        {"NoCandidate", "q", {}, "", {}, "NO_CANDIDATES", "titles"},
        {"TitleUtf8", "q", {"t", "a\xc3"}, "", {}, "INVALID_UTF8", "titles[1]"},
        {"TooMany",
         "q",
         NumberedTitles(2001),
         "",
         {},
         "TOO_MANY_TEXTS",
         "titles"},
        {"RaggedVectors", "q", {}, "12345", {}, "BAD_VECTOR", "vectors"},
        {"NanMinScore",
         "q",
         {"t"},
         "",
         std::nanf(""),
         "INVALID_FIELD",
         "min_score"},
    }),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(RankingEngineTest, QueriesAndDocumentsHaveTheirOwnTowers) {
  EXPECT_NE(VectorOf(Side::kQuery, "text"), VectorOf(Side::kDocument, "text"));
}

TEST_F(RankingEngineTest, DocumentVectorsAreTheSameBitsInAnyBatch) {
  const std::vector<std::string> texts = NumberedTitles(700);
  ASSERT_THAT(Embed(Side::kDocument, texts), IsOk());
  const std::vector<float> together = embedded_.vectors;
  EXPECT_EQ(embedded_.cache.misses, 700u);
  ASSERT_THAT(Embed(Side::kDocument, texts), IsOk());
  EXPECT_EQ(embedded_.cache.hits, 700u);
  EXPECT_EQ(embedded_.vectors, together);
  UseCache(0);
  for (int i = 0; i < 700; i += 99) {
    const std::vector<float> alone = VectorOf(Side::kDocument, texts[i]);
    EXPECT_TRUE(
        std::ranges::equal(alone, std::span(together).subspan(i * kDim, kDim)))
        << i;
  }
}

TEST_F(RankingEngineTest, QueriesAreNeverCached) {
  ASSERT_THAT(Embed(Side::kQuery, {"q"}), IsOk());
  ASSERT_THAT(Embed(Side::kQuery, {"q"}), IsOk());
  EXPECT_EQ(embedded_.cache.misses, 1u);
  EXPECT_EQ(cache_->GetStats().num_entries, 0u);
}

TEST_F(RankingEngineTest, EmbedIsAllOrNone) {
  for (const auto& [text, reason] :
       {std::pair{kTooLong, "TEXT_TOO_LONG"}, {"\x80", "INVALID_UTF8"}}) {
    const absl::Status status = Embed(Side::kDocument, {"fine", text});
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_EQ(ErrorReason(status), reason);
    EXPECT_EQ(ErrorValues(status)["field"], "texts[1]");
  }
  EXPECT_EQ(ErrorReason(Embed(Side::kQuery, {})), "NO_TEXTS");
  EXPECT_EQ(ErrorReason(Embed(Side::kQuery, NumberedTitles(2001))),
            "TOO_MANY_TEXTS");
}

TEST_F(RankingEngineTest, NothingIsEmbeddedForACallerWhoIsGone) {
  EXPECT_THAT(Rank("q", {"t"}, {}, FakeCaller::GoneAfter(0)),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(Rank("q", {"t"}, {},
                   FakeCaller::WithDeadline(absl::Now() - absl::Seconds(1))),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(cache_->GetStats().num_entries, 0u);
}

TEST_F(RankingEngineTest, ALargeBatchIsGivenUpBetweenTwoSlices) {
  EXPECT_THAT(
      Embed(Side::kDocument, NumberedTitles(2000), FakeCaller::GoneAfter(3)),
      StatusIs(absl::StatusCode::kCancelled));
  const std::size_t num_embedded = cache_->GetStats().num_entries;
  EXPECT_GT(num_embedded, 0u);
  EXPECT_LT(num_embedded, 2000u);
}

TEST_F(RankingEngineTest, TurnsOfSeveralRequestsGiveWhatEachGivesAlone) {
  const std::vector<std::string> titles = NumberedTitles(1'900);
  std::vector<std::string> reversed(titles.rbegin(), titles.rend());
  reversed[3] = kTooLong;
  const std::vector<std::string_view> views[] = {
      {titles.begin(), titles.end()}, {reversed.begin(), reversed.end()}};
  const RankInput inputs[] = {{.query = "one", .titles = views[0]},
                              {.query = "two", .titles = views[1]}};
  RankTurns turns[2];
  RankResult results[2];
  for (const Progress want : {Progress::kMore, Progress::kDone}) {
    for (int i = 0; i < 2; ++i) {
      const auto progress = engine_->RankTurn(served_, inputs[i], FakeCaller(),
                                              turns[i], results[i]);
      ASSERT_THAT(progress, IsOk());
      EXPECT_EQ(*progress, want);
    }
  }
  UseCache(0);
  for (int i = 0; i < 2; ++i) {
    ASSERT_THAT(engine_->Rank(served_, inputs[i], FakeCaller(), result_),
                IsOk());
    EXPECT_EQ(results[i].ranking, result_.ranking);
  }
  EXPECT_THAT(results[1].problems, SizeIs(1));
}

TEST_F(RankingEngineTest, BadTextsCanBeSkippedWithoutMovingTheOthers) {
  const std::vector<std::string_view> texts = {"one", kTooLong, "two", "\xff"};
  ASSERT_THAT(
      engine_->Embed(
          served_,
          {.side = Side::kDocument, .texts = texts, .skip_bad_texts = true},
          FakeCaller(), embedded_),
      IsOk());
  ASSERT_THAT(embedded_.problems, SizeIs(2));
  EXPECT_EQ(embedded_.problems[0].index, 1u);
  EXPECT_EQ(ErrorReason(embedded_.problems[0].status), "TEXT_TOO_LONG");
  EXPECT_EQ(ErrorReason(embedded_.problems[1].status), "INVALID_UTF8");
  const std::vector<float> all = embedded_.vectors;
  ASSERT_EQ(all.size(), 4u * kDim);
  EXPECT_TRUE(std::ranges::equal(std::span(all).subspan(2 * kDim, kDim),
                                 VectorOf(Side::kDocument, "two")));
  EXPECT_TRUE(std::ranges::equal(std::span(all).subspan(kDim, kDim),
                                 std::vector<float>(kDim, 0)));
}

TEST(TurnEndTest, StopsAtTheTextsTheBytesAndTheEnd) {
  const auto of_bytes = [](std::size_t num_bytes) {
    return [num_bytes](std::size_t) { return num_bytes; };
  };
  EXPECT_EQ(TurnEnd(0, 5'000, of_bytes(1)), std::size_t{kTurnTexts});
  EXPECT_EQ(TurnEnd(10, 5'000, of_bytes(kTurnBytes / 2)), 12u);
  EXPECT_EQ(TurnEnd(7, 8, of_bytes(10 * kTurnBytes)), 8u);
  EXPECT_EQ(TurnEnd(8, 8, of_bytes(1)), 8u);
}

TEST_F(RankingEngineTest, StagesThatRanHaveTimes) {
  ASSERT_THAT(Rank("q", NumberedTitles(100)), IsOk());
  for (const Stage stage :
       {Stage::kParse, Stage::kCache, Stage::kEmbed, Stage::kScore}) {
    EXPECT_GT(result_.times[stage], absl::ZeroDuration());
  }
}

// Run under ThreadSanitizer too.
TEST_F(RankingEngineTest, ThreadsGetTheScoresOfOneThread) {
  const std::vector<std::string> titles = NumberedTitles(120);
  const std::vector<std::string_view> views(titles.begin(), titles.end());
  ASSERT_THAT(Rank("q", titles), IsOk());
  const std::vector<RankedDocument> want = result_.ranking;
  UseCache(16 << 10);  // evicts all the time
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      RankResult result;
      for (int i = 0; i < 20; ++i) {
        EXPECT_THAT(engine_->Rank(served_, {.query = "q", .titles = views},
                                  FakeCaller(), result),
                    IsOk());
        EXPECT_EQ(result.ranking, want);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace semrank
