#include "model/train/data/chance_clicks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

constexpr int kTitles = 10;  // of a query; the first is wanted
constexpr double kChance = 0.02;

// What users click who look at each title `looks` times. A look at a title that
// is not wanted brings `chance` clicks, and at one that is, an exponential rate
// of the mean `wanted`.
class ChanceClicksTest : public ::testing::Test {
 protected:
  void Draw(int num_queries, int looks, double wanted, double chance) {
    std::mt19937 random(7);
    std::exponential_distribution<double> rates(1);
    for (int query = 0; query < num_queries; ++query) {
      for (int title = 0; title < kTitles; ++title) {
        const double rate = title == 0 ? wanted * rates(random) : chance;
        std::poisson_distribution<int> draw(looks * rate);
        Add("query" + std::to_string(query),
            title == 0 ? "wanted" + std::to_string(query % 2)
                       : "title" + std::to_string(title),
            draw(random), looks);
      }
    }
  }

  void Add(const std::string& query, const std::string& title, int clicks,
           double looks) {
    counts_.Add(query, title, clicks, looks);
    if (clicks == 0) return;
    pairs_.push_back({texts_.Intern(query), texts_.Intern(title),
                      static_cast<std::uint32_t>(clicks)});
  }

  absl::Status RemoveChance() {
    return counts_.TakeChance(texts_, pairs_).status();
  }

  // How many pairs have a title that begins with `title`.
  std::ptrdiff_t NumPairs(std::string_view title) const {
    return std::ranges::count_if(pairs_, [&](const TextPair& pair) {
      return texts_.text(pair.title).starts_with(title);
    });
  }
  std::ptrdiff_t num_wanted() const { return NumPairs("wanted"); }
  std::ptrdiff_t num_by_chance() const {
    return std::ssize(pairs_) - num_wanted();
  }

  TextInterner texts_;
  ClickCounts counts_;
  std::vector<TextPair> pairs_;
};

TEST_F(ChanceClicksTest, RatesAreThoseThatTheClicksWereDrawnWith) {
  Draw(2000, 50, 0.4, kChance);
  const ClickRates rates = counts_.FitRates();
  EXPECT_NEAR(rates.wanted, 0.4, 0.04);
  EXPECT_NEAR(rates.chance, kChance, kChance / 10);
  EXPECT_NEAR(rates.share, 0.1, 0.01);
}

TEST_F(ChanceClicksTest, PairsOfChanceLeaveAndWantedOnesStay) {
  Draw(2000, 50, 0.4, kChance);
  const auto wanted_before = num_wanted();
  const auto by_chance_before = num_by_chance();
  ASSERT_GT(by_chance_before, 5 * wanted_before);
  ASSERT_THAT(RemoveChance(), IsOk());
  EXPECT_GE(num_wanted(), wanted_before * 4 / 5);
  EXPECT_LE(num_by_chance(), by_chance_before / 20);
}

TEST_F(ChanceClicksTest, TitlesThatWereShownAFewTimesStay) {
  Draw(2000, 1, 0.4, 0.002);
  const auto before = num_wanted();
  ASSERT_THAT(RemoveChance(), IsOk());
  EXPECT_GE(num_wanted(), before * 95 / 100);
}

TEST_F(ChanceClicksTest, WithoutChanceAllPairsStay) {
  Draw(2000, 50, 0.4, 0);
  const auto before = num_wanted();
  ASSERT_THAT(RemoveChance(), IsOk());
  EXPECT_EQ(num_wanted(), before);
}

TEST_F(ChanceClicksTest, ALogOfOneKindOfTitlesStays) {
  Draw(500, 100, 0, 0.05);
  const auto before = pairs_.size();
  ASSERT_THAT(RemoveChance(), IsOk());
  EXPECT_EQ(pairs_.size(), before);
}

TEST_F(ChanceClicksTest, PairsWithoutImpressionsStay) {
  Draw(2000, 50, 0.4, kChance);
  pairs_.push_back({texts_.Intern("query"), texts_.Intern("unseen")});
  ASSERT_THAT(RemoveChance(), IsOk());
  EXPECT_EQ(NumPairs("unseen"), 1);
}

TEST_F(ChanceClicksTest, LinesOfAPairAreAddedUp) {
  Draw(2000, 50, 0.4, kChance);
  // A click in two looks is more than chance, and one in fifty is not.
  for (int i = 0; i < 10; ++i) Add("query", "rare", 1, 50);
  for (int i = 0; i < 10; ++i) Add("query", "often", 1, 2);
  ASSERT_THAT(RemoveChance(), IsOk());
  EXPECT_EQ(NumPairs("rare"), 0);
  EXPECT_EQ(NumPairs("often"), 10);
}

TEST_F(ChanceClicksTest, ALogWhereOneTitleIsLeftIsRefused) {
  Draw(2000, 50, 0.4, kChance);
  std::erase_if(pairs_, [&](const TextPair& pair) {
    return texts_.text(pair.title) != "wanted0" && pair.clicks > 1;
  });
  EXPECT_THAT(RemoveChance(), StatusIs(absl::StatusCode::kInvalidArgument,
                                       HasSubstr("may be chance")));
}

TEST(ClickRatesTest, AWantedTitleIsLikelierWithMoreClicksAndFewerLooks) {
  const ClickRates rates = {.wanted = 0.4, .chance = kChance, .share = 0.1};
  EXPECT_GT(rates.WantedProbability(5, 10), 0.99);
  EXPECT_LT(rates.WantedProbability(1, 100), 0.1);
  EXPECT_GT(rates.WantedProbability(2, 10), rates.WantedProbability(1, 10));
  EXPECT_GT(rates.WantedProbability(1, 2), rates.WantedProbability(1, 10));
  EXPECT_EQ(ClickRates().WantedProbability(1, 1000), 1);
}

}  // namespace
}  // namespace semrank
