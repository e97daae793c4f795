#include "server/ranking/ranking_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "server/base/errors.h"
#include "server/base/vector_encoding.h"
#include "tests/server/vectors/engine_fixture.h"
#include "tests/support/run_engines.h"

namespace semrank {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const std::string kTooLong(61, 'x');

class RankingEngineTest : public EngineFixture {};

struct Precision {
  VectorPrecision precision = VectorPrecision::kFloat32;
  float largest_error = 0;  // of a score, against float32
};
class RankingPrecisionTest : public EngineFixture,
                             public ::testing::WithParamInterface<Precision> {};

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

TEST_F(RankingEngineTest, CountsEachAnswerForItsModelVersion) {
  QualityMetrics quality(&metrics_);
  served_.quality = quality.Add(*served_.model);
  ASSERT_THAT(Rank("title number 0", NumberedTitles(3), {.name_match = true}),
              IsOk());
  ASSERT_THAT(Rank("title number 0", {"another"}), IsOk());
  const std::string text = metrics_.Render();
  const std::string labels = "{name=\"tiny\",version=\"1\"}";
  EXPECT_THAT(text, HasSubstr("semrank_queries_total" + labels + " 2\n"));
  EXPECT_THAT(text, HasSubstr("semrank_queries_named_total" + labels + " 1\n"));
  EXPECT_THAT(text, HasSubstr("semrank_top_score_count" + labels + " 2\n"));
}

// Each of two factors in bf16 is off by at most 2^-8 of itself; in int8, by
// half of a step, which is at most 2/127 of the largest of sixteen elements.
INSTANTIATE_TEST_SUITE_P(
    , RankingPrecisionTest,
    ::testing::Values(Precision{VectorPrecision::kBf16, 0x1p-7},
                      Precision{VectorPrecision::kInt8, 8.0f / 127}));

TEST_P(RankingPrecisionTest, ScoresAreTheSameBitsCachedOrNotByTitleOrById) {
  served_.model = MakeTinyModel({.vector_precision = GetParam().precision});
  const auto served = std::make_shared<ServedModel>(served_);
  const std::vector<std::string> titles = NumberedTitles(100);
  ASSERT_THAT(Rank("q", titles), IsOk());
  const std::vector<float> cold = ScoresByCandidate(100);
  ASSERT_THAT(Rank("q", titles), IsOk());
  EXPECT_EQ(result_.cache.misses, 0u);
  EXPECT_EQ(ScoresByCandidate(100), cold);

  ASSERT_THAT(Embed(Side::kDocument, titles), IsOk());
  std::string vectors;
  EncodeFloat32(embedded_.vectors, vectors);
  ASSERT_THAT(Rank("q", {}, {.vectors = vectors}), IsOk());
  EXPECT_EQ(ScoresByCandidate(100), cold);

  DocumentCatalog catalog(100);
  ASSERT_THAT(catalog.BeginModel(served), IsOk());
  std::vector<CatalogRecord::Pointer> records;
  std::vector<std::uint64_t> ids;
  for (const std::string& title : titles) {
    ids.push_back(ids.size());
    records.push_back(CatalogRecord::Make(ids.back(), title, ""));
  }
  const DocumentCatalog::Rows rows = {served, embedded_.vectors.data()};
  ASSERT_THAT(catalog.Put(records, {&rows, 1}).status(), IsOk());
  const RankingEngine with_catalog(kSmallLimits, embedder_.get(), &metrics_,
                                   &catalog);
  ASSERT_THAT(RankAll(with_catalog, served_, {.query = "q", .ids = ids},
                      FakeCaller(), result_),
              IsOk());
  EXPECT_EQ(ScoresByCandidate(100), cold);

  UseCache(0);
  for (int i = 0; i < 100; i += 17) {
    ASSERT_THAT(Rank("q", {titles[i]}), IsOk());
    EXPECT_EQ(result_.ranking[0].score, cold[i]) << i;
  }
  served_ = {.model = MakeTinyModel(), .number = 1};
  ASSERT_THAT(Rank("q", titles), IsOk());
  for (int i = 0; i < 100; ++i) {
    EXPECT_NEAR(ScoresByCandidate(100)[i], cold[i], GetParam().largest_error)
        << i;
  }
}

// The first slice has 1,024 documents, so it ends before the ids do.
TEST_F(RankingEngineTest, ManyIdsRunInSlices) {
  const auto served = std::make_shared<ServedModel>(served_);
  DocumentCatalog catalog(1'100);
  ASSERT_THAT(catalog.BeginModel(served), IsOk());
  std::vector<CatalogRecord::Pointer> records;
  std::vector<std::uint64_t> ids;
  for (const std::string& title : NumberedTitles(1'100)) {
    ids.push_back(ids.size());
    records.push_back(CatalogRecord::Make(ids.back(), title, ""));
  }
  const std::vector<float> vectors(1'100 * kDim, 0.25f);
  const DocumentCatalog::Rows rows = {served, vectors.data()};
  ASSERT_THAT(catalog.Put(records, {&rows, 1}).status(), IsOk());
  const RankingEngine with_catalog(kSmallLimits, embedder_.get(), &metrics_,
                                   &catalog);
  RankResult result;
  ASSERT_THAT(RankAll(with_catalog, served_, {.query = "q", .ids = ids},
                      FakeCaller(), result),
              IsOk());
  EXPECT_THAT(result.ranking, SizeIs(1'100));
  EXPECT_THAT(result.problems, IsEmpty());
}

TEST_F(RankingEngineTest, RepeatedQueryIsNotEmbeddedAgainAndScoresTheSame) {
  ASSERT_THAT(Rank("q", NumberedTitles(10)), IsOk());
  const std::vector<float> first = ScoresByCandidate(10);
  ASSERT_THAT(Rank("q", NumberedTitles(10)), IsOk());
  EXPECT_EQ(ScoresByCandidate(10), first);
  EXPECT_THAT(metrics_.Render(),
              HasSubstr("texts_embedded_total{side=\"query\"} 1\n"));
}

// One text has a vector of each side.
TEST_F(RankingEngineTest, QueryThatIsATitleTooHasItsOwnVector) {
  ASSERT_THAT(Rank("same words", {"same words"}), IsOk());
  const float cold = result_.ranking[0].score;
  ASSERT_THAT(Rank("same words", {"same words"}), IsOk());
  EXPECT_EQ(result_.ranking[0].score, cold);
  UseCache(0);
  ASSERT_THAT(Rank("same words", {"same words"}), IsOk());
  EXPECT_EQ(result_.ranking[0].score, cold);
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

TEST_F(RankingEngineTest, AnotherModelNeverGetsTheOldVectors) {
  ASSERT_THAT(Rank("q", {"a title"}), IsOk());
  served_ = {.model = MakeTinyModel({.seed = 2}), .number = 1};
  ASSERT_THAT(Rank("q", {"a title"}), IsOk());
  EXPECT_EQ(result_.cache.misses, 1u);
}

TEST_F(RankingEngineTest, NamedTitlesComeFirstByScoreAmongEqualMatches) {
  const std::vector<std::string> titles = {"plugins for vim", "Vim: an editor",
                                           "vimtutor", "vim scripts", "VIM"};
  ASSERT_THAT(Rank("vim", titles), IsOk());
  const std::vector<float> scores = ScoresByCandidate(5);
  EXPECT_THAT(result_.names, IsEmpty());
  ASSERT_THAT(Rank("vim", titles, {.top_k = 4, .name_match = true}), IsOk());
  EXPECT_EQ(Indices(), scores[1] >= scores[3]
                           ? std::vector<std::uint32_t>({4, 1, 3, 2})
                           : std::vector<std::uint32_t>({4, 3, 1, 2}));
  EXPECT_THAT(
      result_.names,
      ElementsAre(NameMatch::kSameSpelling, NameMatch::kLeadingWords,
                  NameMatch::kLeadingWords, NameMatch::kUnfinishedName));
  for (const RankedDocument& ranked : result_.ranking) {
    EXPECT_EQ(ranked.score, scores[ranked.index]);
  }
}

TEST_F(RankingEngineTest, TitleThatEqualsTheQueryComesFirstAmongEqualNames) {
  const std::vector<std::string> titles = {"apple", "APPLE", "Apple",
                                           "\uFF21\uFF30\uFF30\uFF2C\uFF25"};
  for (std::uint32_t i = 0; i < titles.size(); ++i) {
    ASSERT_THAT(Rank(titles[i], titles, {.top_k = 1, .name_match = true}),
                IsOk());
    EXPECT_THAT(Indices(), ElementsAre(i));
  }
}

TEST_F(RankingEngineTest, MinScoreHoldsForNamedTitles) {
  const std::vector<std::string> titles = NumberedTitles(40);
  ASSERT_THAT(Rank(titles[7], titles), IsOk());
  const float score = ScoresByCandidate(40)[7];
  ASSERT_THAT(Rank(titles[7], titles, {.min_score = score, .name_match = true}),
              IsOk());
  EXPECT_EQ(Indices()[0], 7u);
  EXPECT_EQ(result_.names[0], NameMatch::kSameText);
  ASSERT_THAT(
      Rank(titles[7], titles,
           {.min_score = std::nextafter(score, 2.0f), .name_match = true}),
      IsOk());
  EXPECT_THAT(Indices(), Not(Contains(7u)));
  EXPECT_EQ(result_.names.size(), result_.ranking.size());
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

TEST_F(RankingEngineTest,
       AnotherSpellingOfACachedTitleIsEmbeddedToTheSameBits) {
  ASSERT_THAT(Rank("q", {"Red Shoes!"}), IsOk());
  const float score = result_.ranking[0].score;
  ASSERT_THAT(Rank("q", {"red shoes", "Red Shoes!"}), IsOk());
  EXPECT_EQ(result_.cache.misses, 1u);
  EXPECT_EQ(result_.cache.hits, 1u);
  EXPECT_EQ(ScoresByCandidate(2), std::vector<float>({score, score}));
}

TEST_F(RankingEngineTest, EmbeddedTitlesAreNamedByTheirCandidateNumbers) {
  std::vector<std::string> titles = NumberedTitles(1'200);
  ASSERT_THAT(Rank("q", titles), IsOk());
  EXPECT_THAT(result_.cache.embedded, SizeIs(1'200));
  // One is in the first slice, after an omitted title, and one in the last.
  titles[0] = kTooLong;
  titles[3] = "new";
  titles[1'199] = "newer";
  ASSERT_THAT(Rank("q", titles), IsOk());
  EXPECT_THAT(result_.cache.embedded, ElementsAre(3u, 1'199u));
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

struct RefusedRankCase {
  std::string_view name, query;
  std::vector<std::string> titles;
  std::string vectors;
  std::optional<float> min_score;
  std::string_view reason, field;
};

class RefusedRankTest : public RankingEngineTest,
                        public ::testing::WithParamInterface<RefusedRankCase> {
};

TEST_P(RefusedRankTest, NamesReasonAndField) {
  const RefusedRankCase& c = GetParam();
  const absl::Status status =
      Rank(c.query, c.titles, {.vectors = c.vectors, .min_score = c.min_score});
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(ErrorReason(status), c.reason);
  EXPECT_EQ(ErrorValues(status)["field"], c.field);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, RefusedRankTest,
    ::testing::ValuesIn<RefusedRankCase>({
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

TEST_F(RankingEngineTest, NothingIsEmbeddedForACallerWhoIsGone) {
  EXPECT_THAT(Rank("q", {"t"}, {}, FakeCaller::GoneAfter(0)),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(Rank("q", {"t"}, {},
                   FakeCaller::WithDeadline(absl::Now() - absl::Seconds(1))),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(cache_->GetStats().num_entries, 0u);
}

TEST_F(RankingEngineTest, TurnsOfSeveralRequestsGiveWhatEachGivesAlone) {
  const std::vector<std::string> titles = NumberedTitles(1'900);
  std::vector<std::string> reversed(titles.rbegin(), titles.rend());
  reversed[3] = kTooLong;
  const std::vector<std::string_view> views[] = {
      {titles.begin(), titles.end()}, {reversed.begin(), reversed.end()}};
  const RankInput inputs[] = {{.query = "one", .titles = views[0]},
                              {.query = "two", .titles = views[1]}};
  RankState state[2];
  RankResult results[2];
  for (const Progress want : {Progress::kMore, Progress::kDone}) {
    for (int i = 0; i < 2; ++i) {
      const auto progress = ranking_->RunSlice(served_, inputs[i], FakeCaller(),
                                               state[i], results[i]);
      ASSERT_THAT(progress, IsOk());
      EXPECT_EQ(*progress, want);
    }
  }
  UseCache(0);
  for (int i = 0; i < 2; ++i) {
    ASSERT_THAT(RankAll(*ranking_, served_, inputs[i], FakeCaller(), result_),
                IsOk());
    EXPECT_EQ(results[i].ranking, result_.ranking);
  }
  EXPECT_THAT(results[1].problems, SizeIs(1));
}

TEST_F(RankingEngineTest, PhasesThatRanHaveTimes) {
  ASSERT_THAT(Rank("q", NumberedTitles(100)), IsOk());
  for (const Phase phase :
       {Phase::kParse, Phase::kCache, Phase::kEmbed, Phase::kScore}) {
    EXPECT_GT(result_.times[phase], absl::ZeroDuration());
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
        EXPECT_THAT(RankAll(*ranking_, served_, {.query = "q", .titles = views},
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
