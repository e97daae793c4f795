#include "model/nn/word_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "model/nn/dssm_tower.h"
#include "model/nn/kernels.h"
#include "tests/model/nn/random_tower.h"
#include "tests/model/nn/random_values.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::Each;
using ::testing::FloatNear;
using ::testing::Pointwise;

constexpr int kWidth = 33;

// Letter trigrams in buckets, some words and some bigrams.
Featurizer LettersWordsAndBigrams() {
  auto featurizer = Featurizer::Create(
      NgramVocabulary::Hashed(3, 200).value(),
      WordVocabulary::FromList({"w1", "w2", "w30"}).value(),
      WordVocabulary::FromBigramList({"w1 w2", "w2 w1", "w3 w3"}).value());
  EXPECT_THAT(featurizer, IsOk());
  return std::move(featurizer).value();
}

// Texts of 0 to 11 of some hundred words, w1 and w2 more often than others.
std::vector<std::string> RandomTexts(int count) {
  std::mt19937 random(1);
  std::vector<std::string> texts(count);
  for (int i = 0; i < count; ++i) {
    for (int w = 0; w < i % 12; ++w) {
      const unsigned range = random() % 2 == 0 ? 3 : 400;
      texts[i].append(w == 0 ? "w" : " w");
      texts[i].append(std::to_string(random() % range));
    }
  }
  return texts;
}

class WordSumsTest : public ::testing::Test {
 protected:
  // The first layer of all texts, in batches of `batch` texts.
  std::vector<float> Sums(WordSums& sums, std::size_t batch) const {
    std::vector<float> result(texts_.size() * kWidth);
    RowLists lists;
    for (std::size_t done = 0; done < texts_.size();) {
      const auto rest = std::span(texts_).subspan(done);
      lists.Clear();
      const std::size_t count = sums.AppendTexts(
          featurizer_, rest.first(std::min(batch, rest.size())), lists);
      EXPECT_EQ(count, static_cast<std::size_t>(lists.num_texts()));
      SumRows(lists.offsets, lists.rows.data(), kWidth,
              result.data() + done * kWidth);
      done += count;
    }
    return result;
  }

  const Featurizer featurizer_ = LettersWordsAndBigrams();
  const std::vector<float> table_ =
      RandomValues(featurizer_.num_features() * kWidth, 2);
  const std::vector<std::string> strings_ = RandomTexts(700);
  const std::vector<std::string_view> texts_{strings_.begin(), strings_.end()};
};

TEST_F(WordSumsTest, SumsEqualThoseOfTheBagUpToRounding) {
  WordSums sums(table_.data(), kWidth);
  BagBatch bags;
  for (const std::string_view text : texts_) featurizer_.AppendBag(text, bags);
  std::vector<float> want(texts_.size() * kWidth);
  SumBags(bags, 0, bags.num_texts(), table_.data(), kWidth, want.data());
  // At most 11 words of 6 features each with values of at most 3 or so.
  EXPECT_THAT(Sums(sums, 50), Pointwise(FloatNear(66 * 200 * 6e-8f), want));
}

TEST_F(WordSumsTest, SumsHaveTheSameBitsInAnyBatch) {
  WordSums none(table_.data(), kWidth, 0);
  const std::vector<float> want = Sums(none, 1);
  EXPECT_EQ(none.num_kept(), 0u);
  for (const std::size_t capacity : {1'000, 20'000, 1'000'000}) {
    WordSums sums(table_.data(), kWidth, capacity);
    for (const std::size_t batch : {1, 3, 700}) {
      ASSERT_EQ(Sums(sums, batch), want) << capacity << ", " << batch;
    }
  }
}

TEST_F(WordSumsTest, KeepsRowsUpToItsCapacity) {
  // A row takes 3 lines, and 4 slots of 24 bytes.
  WordSums few(table_.data(), kWidth, 10 * (3 * 64 + 4 * 24));
  Sums(few, 8);
  EXPECT_EQ(few.num_kept(), 10u);
  WordSums all(table_.data(), kWidth);
  Sums(all, 8);
  const std::size_t num_words = all.num_kept();
  EXPECT_GT(num_words, 300u);
  Sums(all, 8);
  EXPECT_EQ(all.num_kept(), num_words);
}

TEST_F(WordSumsTest, SumsHaveTheSameBitsInManyThreads) {
  WordSums none(table_.data(), kWidth, 0);
  const std::vector<float> want = Sums(none, 8);
  WordSums sums(table_.data(), kWidth);
  std::vector<std::vector<float>> got(4);
  std::vector<std::thread> threads;
  for (auto& result : got) {
    threads.emplace_back([&] { result = Sums(sums, 8); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : got) EXPECT_EQ(result, want);
}

// A slot that a thread finds free may be another word's a moment later. With
// room for one row the threads compete for it in each round.
TEST_F(WordSumsTest, AWordGetsItsOwnSumWhileAnotherIsKept) {
  const auto sum_of = [&](WordSums& sums, std::string_view word) {
    RowLists lists;
    sums.AppendTexts(featurizer_, {&word, 1}, lists);
    return lists.rows.front()[0];
  };
  WordSums none(table_.data(), kWidth, 0);
  const float want = sum_of(none, "word1");
  for (int round = 0; round < 500; ++round) {
    WordSums sums(table_.data(), kWidth, 3 * 64 + 4 * 24);
    std::thread other([&] { sum_of(sums, "word2"); });
    const float got = sum_of(sums, "word1");
    other.join();
    ASSERT_EQ(got, want) << "round " << round;
  }
}

TEST_F(WordSumsTest, ATextWithoutFeaturesHasNoRow) {
  const Featurizer words =
      Featurizer::Create(std::nullopt, WordVocabulary::FromList({"a"}).value())
          .value();
  WordSums sums(table_.data(), kWidth);
  RowLists lists;
  const std::vector<std::string_view> texts = {"", "b", "b a b a"};
  EXPECT_EQ(sums.AppendTexts(words, texts, lists), 3u);
  EXPECT_TRUE(lists.empty(0));
  EXPECT_TRUE(lists.empty(1));
  EXPECT_THAT(lists.rows, ::testing::ElementsAre(table_.data(), table_.data()));
}

TEST_F(WordSumsTest, VectorsEqualThoseOfBagsUpToRounding) {
  for (const std::vector<int>& widths :
       std::vector<std::vector<int>>{{featurizer_.num_features(), 40},
                                     {featurizer_.num_features(), 30, 20}}) {
    const RandomWeights weights(widths, 3);
    const auto tower =
        DssmTower::Create(weights.layers, Activation::kTanh, nullptr).value();
    const std::size_t dim = tower->embedding_dim();
    TowerInput input;
    TowerScratch scratch;
    for (const std::string_view text : texts_) {
      tower->AppendText(featurizer_, text, input);
    }
    std::vector<float> want(texts_.size() * dim), got(want.size(), 9.0f);
    tower->Embed(input, scratch, want.data());
    tower->EmbedTexts(featurizer_, texts_, input, scratch, got.data());
    // Vectors of length 1, from sums of some tens of terms.
    EXPECT_THAT(got, Pointwise(FloatNear(2e-6f), want));
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      std::vector<float> alone(dim);
      tower->EmbedTexts(featurizer_, {&texts_[i], 1}, input, scratch,
                        alone.data());
      const std::vector<float> row(got.begin() + i * dim,
                                   got.begin() + (i + 1) * dim);
      ASSERT_EQ(alone, row) << i;
      if (texts_[i].empty()) {
        ASSERT_THAT(alone, Each(0.0f));
      }
    }
  }
}

}  // namespace
}  // namespace semrank
