#include "model/train/validation/candidate_judgement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/base/interrupt.h"
#include "tests/support/status_matchers.h"
#include "tests/support/tiny_model.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;

TEST(ClickedListsTest, HaveTheTitlesOfEachListAndWeightedClicks) {
  const PositionWeights weights({.positions = {{1}, {0.5}}}, 10);
  const ClickedLists lists = MakeClickedLists(
      std::vector<ClickedList>{
          {"q", {"a", "b", "a"}, {{0, 1}, {2, 2}}},
          {"q", {"c", "b"}, {{1, 2}}},
      },
      weights);
  // Ids descend: c, b, a.
  EXPECT_THAT(lists.collection.documents, ElementsAre("c", "b", "a"));
  ASSERT_THAT(lists.clicks, SizeIs(2));
  EXPECT_THAT(lists.clicks[0], ElementsAre(Pair(2u, 3.0)));
  EXPECT_THAT(lists.clicks[1], ElementsAre(Pair(1u, 2.0)));
  EXPECT_THAT(lists.collection.queries[0].judgements, SizeIs(2));
  JudgedClicks clicks;
  clicks.new_lists = std::make_shared<const ClickedLists>(lists);
  EXPECT_EQ(NumNewQueries(clicks), 1u);
}

JudgementTest MakeTest(double delta, double p, std::size_t num_queries) {
  return {.clicks = "new",
          .num_queries = num_queries,
          .num_lists = 0,
          .delta = delta,
          .p = p};
}

TEST(CandidateJudgementTest, OnlyASignificantLossOnEnoughQueriesFails) {
  const auto failure = [](std::vector<JudgementTest> tests) {
    return DescribeFailure({.tests = std::move(tests)});
  };
  EXPECT_EQ(failure({}), std::nullopt);
  EXPECT_EQ(failure({MakeTest(-0.1, 0.06, 100)}), std::nullopt);
  EXPECT_EQ(failure({MakeTest(0.1, 0.001, 100)}), std::nullopt);
  EXPECT_EQ(failure({MakeTest(-0.1, 0.001, 19)}), std::nullopt);
  const auto failed =
      failure({MakeTest(0.1, 0.001, 100), MakeTest(-0.1, 0.04, 20)});
  ASSERT_NE(failed, std::nullopt);
  EXPECT_THAT(*failed, HasSubstr("delta -0.1000"));
}

TEST(CandidateJudgementTest, ClicksByChanceFail) {
  const auto failure = [](double served, double p, std::size_t num_queries) {
    return DescribeFailure({.chance = ChanceTest{.num_queries = num_queries,
                                                 .served = served,
                                                 .chance = 0.4,
                                                 .p = p}});
  };
  EXPECT_EQ(failure(0.5, 0.001, 200), std::nullopt);
  EXPECT_EQ(failure(0.41, 0.5, 199), std::nullopt);
  EXPECT_NE(failure(0.41, 0.5, 200), std::nullopt);
  EXPECT_NE(failure(0.3, 0.001, 200), std::nullopt);
}

TEST(CandidateJudgementTest, ClicksThatFitLessThanAQuarterAsWellFail) {
  const auto failure = [](double of_new, double p, std::size_t num_new) {
    return DescribeFailure({.fit = ClickFit{.num_new = num_new,
                                            .num_earlier = 100,
                                            .of_new = of_new,
                                            .of_earlier = 0.5,
                                            .p = p}});
  };
  EXPECT_EQ(failure(0.13, 0.001, 100), std::nullopt);
  EXPECT_EQ(failure(0.1, 0.06, 100), std::nullopt);
  EXPECT_EQ(failure(0.1, 0.001, 19), std::nullopt);
  EXPECT_NE(failure(0.1, 0.001, 20), std::nullopt);
}

// The best epoch is published after it, and must be judged before.
TEST(CandidateJudgementTest, CtrlCDoesNotEndAJudgement) {
  auto pairs = std::make_shared<Collection>();
  pairs->documents = {"other thing", "red shoes"};
  pairs->document_ids = {"b", "a"};
  pairs->queries = {{.id = "q",
                     .text = "shoes",
                     .judgements = {{.document = 1, .grade = 1}},
                     .missing = {}}};
  JudgedClicks clicks;
  clicks.new_pairs = pairs;
  ThreadPool pool(1);
  Interrupt();
  const auto judgement =
      JudgeCandidate(clicks, MakeTinyModel(), MakeTinyModel(), pool);
  CatchInterrupts();  // clears the flag
  ASSERT_THAT(judgement, IsOk());
  EXPECT_THAT(judgement->tests, SizeIs(1));
}

}  // namespace
}  // namespace semrank
