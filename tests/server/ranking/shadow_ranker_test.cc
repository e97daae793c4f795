#include "server/ranking/shadow_ranker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/vectors/engine_fixture.h"
#include "tests/support/memory_source.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

class ShadowRankerTest : public EngineFixture {
 protected:
  ShadowRankerTest() {
    live_.Put(1, MakeTinyModel({.name = "live"}));
    next_.Put(1, MakeTinyModel({.name = "next", .seed = 2}));
    EXPECT_THAT(models_.Refresh(), IsOk());
    served_ = *models_.Find("live", 0).value();
  }

  std::unique_ptr<ShadowRanker> Make(ShadowRanker::Options options) {
    if (options.model.empty()) options.model = "next";
    options.now = [this] { return now_; };
    options.processor_time = [this] { return used_; };
    return std::make_unique<ShadowRanker>(std::move(options), kSmallLimits,
                                          &models_, nullptr, &metrics_);
  }
  // Ranks a request, whose texts end before the shadow ranks it.
  void RankTwice(ShadowRanker& shadow, RankInput input = {}) {
    std::vector<std::string> titles = NumberedTitles(30);
    const std::vector<std::string_view> views(titles.begin(), titles.end());
    std::string query = "some query";
    input.query = query;
    input.titles = views;
    ASSERT_THAT(RankAll(*ranking_, served_, input, FakeCaller(), result_),
                IsOk());
    auto request = shadow.Copy(served_, input, result_);
    query.assign(query.size(), 'x');
    for (std::string& title : titles) title.assign(title.size(), 'x');
    if (request != nullptr) shadow.Queue(std::move(request));
  }

  MemoryFolder live_;
  MemoryFolder next_;
  ModelStore models_{{{live_.Source("live")}, {next_.Source("next")}},
                     &metrics_};
  absl::Time now_ = absl::UnixEpoch() + absl::Hours(1);
  absl::Duration used_;
};

TEST_F(ShadowRankerTest, ComparesWithWhatTheSecondModelRanks) {
  const auto shadow = Make({});
  RankTwice(*shadow, {.top_k = 10});
  shadow->WaitUntilIdle();
  const std::vector<RankedDocument> shown = result_.ranking;
  served_ = *models_.Find("next", 0).value();
  ASSERT_THAT(Rank("some query", NumberedTitles(30)), IsOk());
  std::size_t common = 0;
  for (const RankedDocument& document : shown) {
    for (int i = 0; i < 10; ++i) {
      common += result_.ranking[i].index == document.index ? 1 : 0;
    }
  }
  const ShadowRanker::Stats stats = shadow->GetStats();
  EXPECT_EQ(stats.num_ranked, 1);
  EXPECT_DOUBLE_EQ(stats.mean_overlap, static_cast<double>(common) / 10);
  EXPECT_LT(stats.mean_correlation, 1);
  EXPECT_THAT(metrics_.Render(),
              HasSubstr("shadow_rankings_total{result=\"ranked\"} 1\n"));
}

TEST_F(ShadowRankerTest, DropsWhileCallersWait) {
  const auto shadow = Make({.callers_wait = [] { return true; }});
  RankTwice(*shadow);
  shadow->WaitUntilIdle();
  EXPECT_EQ(shadow->GetStats().num_dropped, 1);
}

// One of the questions comes after the request was queued.
TEST_F(ShadowRankerTest, StopsWhenCallersBeginToWait) {
  int num_questions = 0;
  const auto shadow =
      Make({.callers_wait = [&] { return num_questions++ > 0; }});
  RankTwice(*shadow);
  shadow->WaitUntilIdle();
  EXPECT_EQ(shadow->GetStats().num_dropped, 1);
  EXPECT_GT(num_questions, 1);
}

TEST_F(ShadowRankerTest, DropsWhileTheProcessorsAreBusy) {
  const auto shadow = Make({.num_processors = 2});
  RankTwice(*shadow);
  now_ += absl::Seconds(1);
  used_ += absl::Seconds(1.6);
  RankTwice(*shadow);
  now_ += absl::Seconds(1);
  used_ += absl::Seconds(1.4);
  RankTwice(*shadow);
  shadow->WaitUntilIdle();
  EXPECT_EQ(shadow->GetStats().num_dropped, 1);
  EXPECT_EQ(shadow->GetStats().num_ranked, 2);
}

TEST_F(ShadowRankerTest, AModelWithoutAVersionIsAFailure) {
  const auto shadow = Make({.model = "none"});
  RankTwice(*shadow);
  shadow->WaitUntilIdle();
  EXPECT_EQ(shadow->GetStats().num_failed, 1);
}

TEST_F(ShadowRankerTest, TheModelsOwnAnswersAreNotRankedAgain) {
  const auto shadow = Make({.model = "live"});
  RankTwice(*shadow);
  shadow->WaitUntilIdle();
  EXPECT_EQ(shadow->GetStats().num_ranked + shadow->GetStats().num_dropped, 0);
}

}  // namespace
}  // namespace semrank
