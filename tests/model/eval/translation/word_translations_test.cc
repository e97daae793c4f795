#include "model/eval/translation/word_translations.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

constexpr double kRounding = 1e-12;

std::vector<TranslatedText> RandomTexts(int count, std::uint32_t num_words) {
  std::mt19937 random(5);
  std::vector<TranslatedText> texts(count);
  for (TranslatedText& text : texts) {
    for (unsigned i = 0; i <= random() % 5; ++i) {
      text.source.push_back(random() % num_words);
      text.target.push_back(random() % num_words);
    }
    text.weight = 1 + random() % 3;
  }
  return texts;
}

TEST(WordTranslationsTest, OneIterationByHand) {
  const std::vector<TranslatedText> texts = {{{0}, {2}}, {{0, 1}, {2, 3}}};
  ASSERT_OK_AND_ASSIGN(const auto learned,
                       WordTranslations::Learn(texts, 4, 1));
  // All t start as 1/2. Word 0 has 1/2 of the first 2, and 1/3 of the second
  // and of 3; so has the empty word.
  EXPECT_NEAR(learned.Probability(2, 0), 5.0 / 7, kRounding);
  EXPECT_NEAR(learned.Probability(3, 0), 2.0 / 7, kRounding);
  EXPECT_NEAR(learned.Probability(2, 1), 0.5, kRounding);
  EXPECT_EQ(learned.Probability(1, 0), 0);
  EXPECT_NEAR(learned.Of(learned.empty_word())[0].probability, 5.0 / 7,
              kRounding);
  EXPECT_NEAR(learned.log_likelihoods()[0], 3 * std::log(0.5), kRounding);
}

TEST(WordTranslationsTest, LikelihoodNeverFalls) {
  const auto texts = RandomTexts(200, 12);
  ASSERT_OK_AND_ASSIGN(const auto learned,
                       WordTranslations::Learn(texts, 12, 30));
  const std::vector<double>& likelihoods = learned.log_likelihoods();
  ASSERT_EQ(likelihoods.size(), 31u);
  for (std::size_t i = 1; i < likelihoods.size(); ++i) {
    EXPECT_GE(likelihoods[i], likelihoods[i - 1] - 1e-9) << "iteration " << i;
  }
  EXPECT_GT(likelihoods.back(), likelihoods.front() + 1);
}

TEST(WordTranslationsTest, TranslationsOfAWordAddUpToOne) {
  const auto texts = RandomTexts(50, 12);
  ASSERT_OK_AND_ASSIGN(const auto learned,
                       WordTranslations::Learn(texts, 12, 5));
  for (std::uint32_t word = 0; word < 12; ++word) {
    double sum = 0;
    for (const auto& translation : learned.Of(word)) {
      sum += translation.probability;
    }
    EXPECT_NEAR(sum, 1, kRounding) << "word " << word;
  }
}

TEST(WordTranslationsTest, ClicksCountAsRepeatedPairs) {
  const std::vector<TranslatedText> repeated = {
      {{0}, {2}}, {{0}, {2}}, {{0, 1}, {2, 3}}};
  const std::vector<TranslatedText> weighted = {{{0}, {2}, 2},
                                                {{0, 1}, {2, 3}}};
  ASSERT_OK_AND_ASSIGN(const auto a, WordTranslations::Learn(repeated, 4, 4));
  ASSERT_OK_AND_ASSIGN(const auto b, WordTranslations::Learn(weighted, 4, 4));
  EXPECT_NEAR(a.Probability(2, 0), b.Probability(2, 0), kRounding);
}

}  // namespace
}  // namespace semrank
