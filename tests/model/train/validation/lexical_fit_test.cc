#include "model/train/validation/lexical_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <span>
#include <vector>

namespace semrank {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;

// Clicks drawn from the softmax of a x semantic + b x lexical over 64 titles
// of random cosines.
ScoredPairs DrawClicks(double a, double b, int num_pairs) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  ScoredPairs pairs;
  for (int i = 0; i < num_pairs; ++i) {
    const std::size_t begin = pairs.semantic.size();
    std::vector<double> likelihoods;
    for (int k = 0; k < 64; ++k) {
      pairs.semantic.push_back(static_cast<float>(uniform(random)));
      pairs.lexical.push_back(static_cast<float>(uniform(random)));
      likelihoods.push_back(
          std::exp(a * pairs.semantic.back() + b * pairs.lexical.back()));
    }
    std::discrete_distribution<std::size_t> click(likelihoods.begin(),
                                                  likelihoods.end());
    const std::size_t clicked = begin + click(random);
    std::swap(pairs.semantic[begin], pairs.semantic[clicked]);
    std::swap(pairs.lexical[begin], pairs.lexical[clicked]);
    pairs.offsets.push_back(pairs.semantic.size());
    pairs.weights.push_back(1);
  }
  return pairs;
}

TEST(LexicalFitTest, FindsTheWeightThatClicksWereDrawnWith) {
  // The standard error of b / (a + b) with 2,000 pairs is about .006; the
  // penalty adds less.
  EXPECT_NEAR(FitLexicalWeight(DrawClicks(10, 5, 2000), {}), 1.0 / 3, 0.025);
  EXPECT_NEAR(FitLexicalWeight(DrawClicks(10, 1, 2000), {}), 1.0 / 11, 0.025);
  EXPECT_NEAR(FitLexicalWeight(DrawClicks(3, 9, 2000), {}), 0.75, 0.025);
}

TEST(LexicalFitTest, IsZeroWhereTheLexicalCosineMisleads) {
  const ScoredPairs pairs = DrawClicks(10, -3, 2000);
  EXPECT_EQ(FitLexicalWeight(pairs, {}), 0);
  EXPECT_EQ(FitLexicalWeight(pairs, {.least = 0.01}), 0.01);
}

TEST(LexicalFitTest, ThePriorDecidesWithoutPairsAndLittleWithMany) {
  EXPECT_NEAR(FitLexicalWeight({}, {}), LexicalPrior().weight, 0.01);
  EXPECT_LT(FitLexicalWeight(DrawClicks(10, 1, 100), {}), 0.3);
}

TEST(LexicalFitTest, ThePriorKnowsWhetherTheModelBeganFromTheGeneralOne) {
  TrainOptions options;
  EXPECT_EQ(LexicalPriorOf(options).weight, LexicalPrior().weight);
  options.initial_model.is_general = true;
  EXPECT_EQ(LexicalPriorOf(options).weight, kGeneralPrior.weight);
  EXPECT_EQ(LexicalPriorOf(options).strength, kGeneralPrior.strength);
}

TEST(LexicalFitTest, AStrongPriorOutweighsAHandfulOfPairs) {
  const ScoredPairs few = DrawClicks(10, 1, 8);
  EXPECT_LT(FitLexicalWeight(few, {}), 0.3);
  EXPECT_GT(FitLexicalWeight(few, kGeneralPrior), 0.33);
  EXPECT_LT(FitLexicalWeight(DrawClicks(10, 1, 2000), kGeneralPrior), 0.2);
}

// Query 1 has a title that many users clicked, one that was clicked at a
// position that few look at, and one that was clicked by chance.
TEST(LexicalFitTest, PairsOfAQueryCountByTheirCorrectedClicks) {
  const std::vector<TextPair> pairs = {{.query = 1, .title = 2, .clicks = 10},
                                       {.query = 7, .title = 2, .clicks = 1},
                                       {1, 3, 1, 9.0f},
                                       {1, 4, 1, 1.0f}};
  EXPECT_THAT(WeighPairs(pairs, v1::CLICK_USE_WEIGHT),
              ElementsAre(DoubleEq(.5), 1, DoubleEq(.45), DoubleEq(.05)));
  EXPECT_THAT(WeighPairs(std::span(pairs).first(2), v1::CLICK_USE_IGNORE),
              ElementsAre(1, 1));
}

TEST(LexicalFitTest, TitlesHaveIdeographsIfATenthOfThemHas) {
  TextInterner texts;
  const std::vector<TextId> titles = {texts.Intern("北 京"),
                                      texts.Intern("peking"),
                                      texts.Intern("とうきょう")};
  EXPECT_TRUE(HaveIdeographs(texts, titles));
  EXPECT_FALSE(HaveIdeographs(texts, std::span(titles).subspan(1)));
  EXPECT_FALSE(HaveIdeographs(texts, {}));
  std::vector<TextId> few(10, titles[1]);
  few.push_back(titles[0]);
  EXPECT_FALSE(HaveIdeographs(texts, few));
}

TEST(LexicalFitTest, APairWithoutUnclickedTitlesSaysNothing) {
  ScoredPairs pairs = DrawClicks(10, 5, 400);
  const double weight = FitLexicalWeight(pairs, {});
  pairs.semantic.push_back(0.5f);
  pairs.lexical.push_back(0.0f);
  pairs.offsets.push_back(pairs.semantic.size());
  pairs.weights.push_back(1);
  EXPECT_NEAR(FitLexicalWeight(pairs, {}), weight, 1e-3);
}

}  // namespace
}  // namespace semrank
