#include "model/text/word_sequences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "model/text/featurizer.h"
#include "tests/model/text/bag_of.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Featurizer Letters(std::vector<std::string> ngrams) {
  return *Featurizer::Create(*NgramVocabulary::FromList(3, std::move(ngrams)),
                             std::nullopt);
}

TEST(WordNumbersTest, CountsDistinctWordsThroughGrowthAndClear) {
  WordNumbers numbers;
  std::mt19937 random(1);
  for (int round = 0; round < 3; ++round) {
    std::map<std::string, std::uint32_t> want;
    for (int i = 0; i < 20000; ++i) {
      const std::string word = std::to_string(random() % 5000);
      const auto next = static_cast<std::uint32_t>(want.size());
      const auto [entry, added] = want.emplace(word, next);
      ASSERT_EQ(numbers.Intern(word), entry->second) << word;
    }
    EXPECT_EQ(numbers.size(), want.size());
    numbers.Clear();
    EXPECT_EQ(numbers.size(), 0u);
  }
}

TEST(AppendWordsTest, KeepsTheOrderAndOneBagADistinctWord) {
  const Featurizer featurizer = Letters({"#ab", "ab#", "#c#"});
  WordSequences batch;
  featurizer.AppendWords("c ab c", batch);
  featurizer.AppendWords("", batch);
  featurizer.AppendWords("x ab", batch);
  ASSERT_EQ(batch.num_texts(), 3);
  EXPECT_THAT(batch.text(0), ElementsAre(1, 2, 1));
  EXPECT_THAT(batch.text(1), IsEmpty());
  EXPECT_THAT(batch.text(2), ElementsAre(3, 2));
  ASSERT_EQ(batch.bags.num_texts(), 4);
  EXPECT_EQ(BagOf(batch.bags, 1), (Bag{{2, 1}}));
  EXPECT_EQ(BagOf(batch.bags, 2), (Bag{{0, 1}, {1, 1}}));
  EXPECT_THAT(BagOf(batch.bags, 3), IsEmpty());
}

TEST(AppendWordsTest, PaddingIsAWordLikeAnyOther) {
  const Featurizer featurizer = *Featurizer::Create(
      *NgramVocabulary::FromList(3, {"#<s", "a##", "<s>", "s>#"}),
      *WordVocabulary::FromList({"b", "<s>"}));
  WordSequences batch;
  featurizer.AppendWords("b", batch);
  EXPECT_EQ(BagOf(batch.bags, 0), (Bag{{0, 1}, {2, 1}, {3, 1}, {5, 1}}));
  EXPECT_EQ(BagOf(batch.bags, 1), (Bag{{4, 1}}));
}

TEST(AppendWordsTest, PaddingThatIsNotInTheVocabularyIsEmpty) {
  WordSequences batch;
  Letters({"#c#"}).AppendWords("c", batch);
  EXPECT_THAT(BagOf(batch.bags, 0), IsEmpty());
}

TEST(AppendWordsTest, TextOfUnknownWordsHasNoFeatures) {
  const Featurizer featurizer = Letters({"#<s", "#c#"});
  WordSequences batch;
  featurizer.AppendWords("x y", batch);
  featurizer.AppendWords("x c", batch);
  featurizer.AppendWords("", batch);
  EXPECT_FALSE(batch.HasFeatures(0));
  EXPECT_TRUE(batch.HasFeatures(1));
  EXPECT_FALSE(batch.HasFeatures(2));
}

TEST(AppendWordsTest, ClearedBatchBeginsAnewAndKeepsItsMemory) {
  const Featurizer featurizer = Letters({"#ab", "ab#", "#c#"});
  WordSequences batch;
  featurizer.AppendWords("c ab c", batch);
  const auto* const words = batch.words.data();
  const auto* const indices = batch.bags.indices.data();
  batch.Clear();
  EXPECT_EQ(batch.num_texts(), 0);
  featurizer.AppendWords("ab", batch);
  EXPECT_THAT(batch.text(0), ElementsAre(1));
  EXPECT_EQ(BagOf(batch.bags, 1), (Bag{{0, 1}, {1, 1}}));
  EXPECT_EQ(batch.words.data(), words);
  EXPECT_EQ(batch.bags.indices.data(), indices);
}

}  // namespace
}  // namespace semrank
