#include "model/nn/clsm_tower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "model/nn/max_pool.h"
#include "model/text/normalizer.h"
#include "tests/model/nn/random_tower.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kUnits = 50;
constexpr int kDim = 17;

// Letter trigrams of words of a few letters, and the padding's.
Featurizer MakeFeaturizer() {
  std::vector<std::string> ngrams = {"#<s", "<s>", "s>#"};
  const std::string letters = "abcd";
  for (const char a : "#" + letters) {
    for (const char b : letters) {
      for (const char c : letters + "#") ngrams.push_back({a, b, c});
    }
  }
  return *Featurizer::Create(*NgramVocabulary::FromList(3, ngrams),
                             std::nullopt);
}

// 0 to 11 words, some of them unknown; shorter than the window, and longer.
std::vector<std::string> RandomTexts(int count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::string> texts(count);
  for (std::string& text : texts) {
    for (unsigned n = random() % 12; n > 0; --n) {
      text += text.empty() ? "" : " ";
      for (unsigned l = 1 + random() % 4; l > 0; --l) {
        text += "abcdz"[random() % 5];
      }
    }
  }
  return texts;
}

class ClsmTowerTest : public ::testing::TestWithParam<int> {
 protected:
  std::unique_ptr<ClsmTower> MakeTower() const {
    auto tower = ClsmTower::Create(weights_.layers, window_, nullptr);
    EXPECT_THAT(tower, IsOk());
    return std::move(tower).value();
  }

  TowerInput Input(const std::vector<std::string>& texts) const {
    TowerInput input;
    for (const std::string& text : texts) {
      tower_->AppendText(featurizer_, text, input);
    }
    return input;
  }

  std::vector<float> Embed(const std::vector<std::string>& texts) const {
    TowerScratch scratch;
    std::vector<float> vectors(texts.size() * kDim, 9.0f);
    tower_->Embed(Input(texts), scratch, vectors.data());
    return vectors;
  }

  // h_t of eq. 1 and 2 as they stand: windows are built, in double precision.
  std::vector<std::vector<double>> SlowConvolution(
      const std::string& text) const {
    BagBatch bags;
    ForEachPaddedWord(text, [&](const std::string& word) {
      featurizer_.AppendBag(word, bags);
    });
    const LayerView& layer = weights_.layers[0];
    std::vector<std::vector<double>> h;
    for (int t = 0; t + window_ <= bags.num_texts(); ++t) {
      std::vector<double> z(layer.bias, layer.bias + layer.out);
      for (int p = 0; p < window_; ++p) {
        for (std::uint32_t k = bags.offsets[t + p]; k < bags.offsets[t + p + 1];
             ++k) {
          const std::size_t row = bags.indices[k] * window_ + p;
          for (int i = 0; i < layer.out; ++i) {
            z[i] += double{bags.counts[k]} * layer.weight[row * layer.out + i];
          }
        }
      }
      for (double& v : z) v = std::tanh(v);
      h.push_back(z);
    }
    return h;
  }

  template <typename Visitor>
  void ForEachPaddedWord(const std::string& text, Visitor visit) const {
    for (int i = 0; i < window_ / 2; ++i) visit("<s>");
    ForEachWord(text, [&](std::string_view word) { visit(std::string(word)); });
    for (int i = 0; i < window_ / 2; ++i) visit("<s>");
  }

  // max over t of h_t.
  static std::vector<double> SlowPool(
      const std::vector<std::vector<double>>& h) {
    std::vector<double> v = h[0];
    for (const auto& row : h) {
      for (int i = 0; i < kUnits; ++i) v[i] = std::max(v[i], row[i]);
    }
    return v;
  }

  bool HasKnownWord(const std::string& text) const {
    BagBatch bag;
    featurizer_.AppendBag(text, bag);
    return !bag.indices.empty();
  }

  const int window_ = GetParam();
  const Featurizer featurizer_ = MakeFeaturizer();
  const RandomWeights weights_{
      {featurizer_.num_features() * window_, kUnits, 21, kDim}, 1};
  const std::unique_ptr<ClsmTower> tower_ = MakeTower();
};

TEST_P(ClsmTowerTest, MatchesTheEquationsInDoublePrecision) {
  const std::vector<std::string> texts = RandomTexts(60, 2);
  const std::vector<float> vectors = Embed(texts);
  for (std::size_t t = 0; t < texts.size(); ++t) {
    if (!HasKnownWord(texts[t])) continue;
    const std::vector<double> want =
        SlowFinish(weights_.layers, 1, Activation::kTanh,
                   SlowPool(SlowConvolution(texts[t])));
    for (int j = 0; j < kDim; ++j) {
      // Sums of some tens of rounded terms, through three layers.
      ASSERT_NEAR(vectors[t * kDim + j], want[j], 3e-6) << texts[t];
    }
  }
}

TEST_P(ClsmTowerTest, TextHasTheSameBitsAloneAndInAnyBatch) {
  for (const int num_texts : {2, 33, 200}) {
    const std::vector<std::string> texts = RandomTexts(num_texts, 3);
    const std::vector<float> vectors = Embed(texts);
    for (int t = 0; t < num_texts; ++t) {
      const std::vector<float> want(vectors.begin() + t * kDim,
                                    vectors.begin() + (t + 1) * kDim);
      ASSERT_EQ(Embed({texts[t]}), want) << t << " of " << num_texts;
    }
  }
}

TEST_P(ClsmTowerTest, TextHasTheSameBitsInAnyThread) {
  const std::vector<std::string> texts = RandomTexts(50, 4);
  const std::vector<float> want = Embed(texts);
  std::vector<std::vector<float>> got(4);
  std::vector<std::thread> threads;
  for (auto& vectors : got) {
    threads.emplace_back([&] { vectors = Embed(texts); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& vectors : got) EXPECT_EQ(vectors, want);
}

TEST_P(ClsmTowerTest, ReusesScratchFromLargerAndSmallerBatches) {
  TowerScratch scratch;
  TowerInput input;
  for (const int num_texts : {100, 3, 150, 1}) {
    const std::vector<std::string> texts = RandomTexts(num_texts, 5);
    input.Clear();
    for (const std::string& text : texts) {
      tower_->AppendText(featurizer_, text, input);
    }
    std::vector<float> vectors(num_texts * kDim);
    tower_->Embed(input, scratch, vectors.data());
    EXPECT_EQ(vectors, Embed(texts));
  }
}

TEST_P(ClsmTowerTest, TextWithoutKnownFeaturesIsExactlyZero) {
  EXPECT_THAT(Embed({"", "zzz", "zz zzzz z"}), Each(0.0f));
  EXPECT_THAT(Embed({"zz ab"}), ::testing::Contains(::testing::Ne(0.0f)));
}

TEST_P(ClsmTowerTest, OrderOfWordsCountsWhereTheWindowSeesIt) {
  // Windows of one word see a set of words.
  EXPECT_EQ(Embed({"ab cd da"}) == Embed({"cd ab da"}), window_ == 1);
}

TEST_P(ClsmTowerTest, NamesTheWordThatWonEachUnit) {
  const std::vector<std::string> texts = {"ab", "bca d cc abd ba cd", "", "zz"};
  const TowerInput input = Input(texts);
  TowerScratch scratch;
  for (int t = 0; t < 4; ++t) {
    const auto units = tower_->PoolText(input, t, scratch);
    if (texts[t].empty()) {
      EXPECT_THAT(units, IsEmpty());
      continue;
    }
    const auto h = SlowConvolution(texts[t]);
    const std::vector<double> want = SlowPool(h);
    ASSERT_EQ(units.size(), kUnits);
    for (int i = 0; i < kUnits; ++i) {
      EXPECT_NEAR(units[i].activation, want[i], 1e-6);
      ASSERT_LT(units[i].word, static_cast<int>(h.size()));
      // The winner has the maximum, up to the rounding of equals.
      EXPECT_NEAR(h[units[i].word][i], want[i], 1e-6);
    }
  }
}

TEST_P(ClsmTowerTest, ReturnsTheConvolutionOfEachWord) {
  const std::vector<std::string> texts = {"ab", "bca d cc abd ba cd"};
  const TowerInput input = Input(texts);
  TowerScratch scratch;
  for (int t = 0; t < 2; ++t) {
    const auto want = SlowConvolution(texts[t]);
    for (std::size_t word = 0; word < want.size(); ++word) {
      const std::vector<float> h =
          tower_->ConvolveWord(input, t, static_cast<int>(word), scratch);
      ASSERT_EQ(h.size(), kUnits);
      for (int i = 0; i < kUnits; ++i) EXPECT_NEAR(h[i], want[word][i], 1e-6);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Windows, ClsmTowerTest,
                         ::testing::Values(1, 3, 5, 15));

TEST(MaxPoolWindowsTest, FirstOfEqualsWins) {
  // Two words, a window of one, three units.
  const std::vector<float> sums = {1, 5, 2, 1, 4, 3};
  const std::vector<std::uint32_t> words = {0, 1, 0, 1};
  std::vector<float> maxima(3);
  std::vector<std::int32_t> winners(3);
  MaxPoolWindows(sums.data(), words, 1, 3, maxima.data(), winners.data());
  EXPECT_THAT(maxima, ElementsAre(1, 5, 3));
  EXPECT_THAT(winners, ElementsAre(0, 0, 1));
}

TEST(MaxPoolWindowsTest, WritesNothingAfterTheUnits) {
  for (const int width : {1, 7, 16, 63, 64, 65, 300}) {
    const std::vector<float> sums = RandomValues(5 * 3 * width, 1);
    const std::vector<std::uint32_t> padded = {0, 1, 2, 3, 4, 0};
    std::vector<float> maxima(width + 1, 7);
    std::vector<std::int32_t> winners(width + 1, 7);
    MaxPoolWindows(sums.data(), padded, 3, width, maxima.data(),
                   winners.data());
    EXPECT_EQ(maxima.back(), 7);
    EXPECT_EQ(winners.back(), 7);
    for (int i = 0; i < width; ++i) {
      float want = -INFINITY;
      for (int t = 0; t < 4; ++t) {
        float sum = sums[(padded[t] * 3 + 0) * width + i];
        sum += sums[(padded[t + 1] * 3 + 1) * width + i];
        sum += sums[(padded[t + 2] * 3 + 2) * width + i];
        want = std::max(want, sum);
      }
      EXPECT_EQ(maxima[i], want) << i << " of " << width;
    }
  }
}

TEST(MaxPoolWindowsTest, NanIsNotHidden) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> sums = {1, nan, 2};
  const std::vector<std::vector<std::uint32_t>> texts = {
      {1, 0, 2}, {0, 1, 2}, {0, 2, 1}};
  for (const auto& words : texts) {
    float maximum = 0;
    MaxPoolWindows(sums.data(), words, 1, 1, &maximum);
    EXPECT_TRUE(std::isnan(maximum));
  }
}

TEST(ClsmTowerCreateTest, RefusesLayersThatAreNoClsm) {
  const RandomWeights weights({9, 5, 4}, 9);
  EXPECT_THAT(ClsmTower::Create(weights.layers, 3, nullptr), IsOk());
  const auto refusal = [](const std::string& reason) {
    return StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(reason));
  };
  EXPECT_THAT(ClsmTower::Create(weights.layers, 2, nullptr),
              refusal("a window of 2 words"));
  EXPECT_THAT(ClsmTower::Create(weights.layers, 17, nullptr),
              refusal("a window of 17 words"));
  EXPECT_THAT(ClsmTower::Create(weights.layers, 5, nullptr),
              refusal("takes 9 inputs"));
  EXPECT_THAT(ClsmTower::Create({weights.layers[0]}, 3, nullptr),
              refusal("after its max pooling"));
  EXPECT_THAT(ClsmTower::Create({}, 3, nullptr), refusal("one layer"));
}

}  // namespace
}  // namespace semrank
