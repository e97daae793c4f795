#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <set>

#include "server/ranking/experiments.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using Ranking = std::vector<std::uint32_t>;

Ranking Numbers(std::uint32_t count) {
  Ranking numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

class InterleaveTest : public ::testing::Test {
 protected:
  // Interleaves a_ and b_, and returns the documents.
  Ranking Draft(std::size_t max_picks = 0) {
    picks_ = TeamDraft(a_, b_, max_picks, random_);
    Ranking list;
    for (const DraftPick& pick : picks_) {
      list.push_back((pick.is_b ? b_ : a_)[pick.place]);
    }
    return list;
  }

  Ranking a_;
  Ranking b_;
  Random random_{1, RandomPurpose::kServing};
  std::vector<DraftPick> picks_;
};

TEST_F(InterleaveTest, EachPrefixHasAsManyOfBothTeams) {
  a_ = Numbers(40);
  b_ = Numbers(40);
  for (int i = 0; i < 100; ++i) {
    Shuffle(random_, b_);
    const Ranking list = Draft();
    EXPECT_EQ(std::set(list.begin(), list.end()).size(), 40u);
    int lead = 0;
    for (const DraftPick& pick : picks_) {
      lead += pick.is_b ? 1 : -1;
      EXPECT_LE(std::abs(lead), 1);
      EXPECT_TRUE(pick.in_team);
    }
  }
}

// Algorithm 2: a captain's choice is its best result that is not chosen yet.
TEST_F(InterleaveTest, EachTeamContributesItsBestRemainingResult) {
  a_ = Numbers(20);
  b_ = Numbers(20);
  Shuffle(random_, b_);
  std::set<std::uint32_t> chosen;
  Draft();
  for (const DraftPick& pick : picks_) {
    const Ranking& ranking = pick.is_b ? b_ : a_;
    for (std::uint32_t i = 0; i < pick.place; ++i) {
      EXPECT_TRUE(chosen.contains(ranking[i]));
    }
    EXPECT_TRUE(chosen.insert(ranking[pick.place]).second);
  }
}

TEST_F(InterleaveTest, EqualRankingsStayAsTheyAreAndTeamsAreFair) {
  a_ = b_ = Numbers(10);
  int num_first_of_b = 0;
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_EQ(Draft(), a_);
    num_first_of_b += picks_[0].is_b ? 1 : 0;
  }
  EXPECT_NEAR(num_first_of_b, 5'000, 250);  // five standard deviations
}

TEST_F(InterleaveTest, StopsAtTheNumberOfResultsWanted) {
  a_ = {1, 2, 3};
  b_ = {4, 5, 6};
  EXPECT_EQ(Draft(4).size(), 4u);
  EXPECT_EQ(Draft(0).size(), 6u);
  EXPECT_EQ(Draft(9).size(), 6u);
}

TEST_F(InterleaveTest, ResultsAfterTheEndOfARankingAreInNoTeam) {
  a_ = {1};
  b_ = {1, 2, 3};
  EXPECT_THAT(Draft(), ElementsAre(1, 2, 3));
  EXPECT_TRUE(picks_[0].in_team);
  EXPECT_EQ(picks_[1], (DraftPick{.place = 1, .is_b = true, .in_team = false}));
  EXPECT_EQ(picks_[2], (DraftPick{.place = 2, .is_b = true, .in_team = false}));
  a_ = {};
  b_ = {};
  EXPECT_THAT(Draft(), ElementsAre());
}

TEST_F(InterleaveTest, ValuesComeFromTheRankingThatContributed) {
  const std::vector<DraftPick> picks = {{.place = 1},
                                        {.place = 0, .is_b = true}};
  std::vector<float> scores = {.9f, .8f, .7f};
  ApplyDraft(picks, {.3f}, scores);
  EXPECT_THAT(scores, ElementsAre(.8f, .3f));
  // A part that one model does not have is 0, one that neither has is absent.
  ApplyDraft(picks, {}, scores);
  EXPECT_THAT(scores, ElementsAre(.3f, 0));
  scores.clear();
  ApplyDraft(picks, {}, scores);
  EXPECT_THAT(scores, ElementsAre());
}

TEST_F(InterleaveTest, OneSeedGivesOneList) {
  a_ = Numbers(30);
  b_ = Numbers(30);
  Shuffle(random_, b_);
  Random one(7, RandomPurpose::kServing);
  Random same(7, RandomPurpose::kServing);
  Random other(8, RandomPurpose::kServing);
  const auto picks = TeamDraft(a_, b_, 0, one);
  EXPECT_EQ(TeamDraft(a_, b_, 0, same), picks);
  EXPECT_NE(TeamDraft(a_, b_, 0, other), picks);
}

}  // namespace
}  // namespace semrank
