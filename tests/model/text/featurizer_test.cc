#include "model/text/featurizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "model/text/normalizer.h"
#include "model/text/vocabulary_builder.h"
#include "tests/model/text/bag_of.h"
#include "tests/model/text/random_text.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Bag BagOf(const Featurizer& featurizer, std::string_view normalized) {
  BagBatch batch;
  featurizer.AppendBag(normalized, batch);
  return BagOf(batch, 0);
}

Featurizer MakeFeaturizer(std::vector<std::string> ngrams,
                          std::vector<std::string> words) {
  std::optional<NgramVocabulary> ngram_vocabulary;
  std::optional<WordVocabulary> word_vocabulary;
  if (!ngrams.empty()) {
    ngram_vocabulary = *NgramVocabulary::FromList(3, std::move(ngrams));
  }
  if (!words.empty()) {
    word_vocabulary = *WordVocabulary::FromList(std::move(words));
  }
  return *Featurizer::Create(std::move(ngram_vocabulary),
                             std::move(word_vocabulary));
}

TEST(FeaturizerTest, NeedsAVocabulary) {
  EXPECT_THAT(Featurizer::Create(std::nullopt, std::nullopt),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(FeaturizerTest, CountsLetterNgrams) {
  const Featurizer featurizer =
      MakeFeaturizer({"od#", "goo", "#go", "ood"}, {});
  EXPECT_EQ(featurizer.num_features(), 4);
  EXPECT_EQ(BagOf(featurizer, "good goods"),
            (Bag{{0, 1}, {1, 2}, {2, 2}, {3, 2}}));
}

TEST(FeaturizerTest, CountsWords) {
  const Featurizer featurizer = MakeFeaturizer({}, {"red", "shoe"});
  EXPECT_EQ(featurizer.num_features(), 2);
  EXPECT_EQ(BagOf(featurizer, "shoe red shoe hat"), (Bag{{0, 1}, {1, 2}}));
}

TEST(FeaturizerTest, WordsAreNumberedBehindNgrams) {
  const Featurizer featurizer = MakeFeaturizer({"#a#", "#b#"}, {"b", "a"});
  EXPECT_EQ(featurizer.num_features(), 4);
  EXPECT_EQ(BagOf(featurizer, "a a b"), (Bag{{0, 2}, {1, 1}, {2, 1}, {3, 2}}));
}

TEST(FeaturizerTest, BigramsAreNumberedBehindWordsAndKeepTheOrderOfWords) {
  const Featurizer featurizer = *Featurizer::Create(
      *NgramVocabulary::FromList(3, {"#a#"}), *WordVocabulary::FromList({"b"}),
      *WordVocabulary::FromBigramList({"b a", "a b", "b c"}));
  EXPECT_EQ(featurizer.num_features(), 5);
  EXPECT_EQ(BagOf(featurizer, "a b a b"),
            (Bag{{0, 2}, {1, 2}, {2, 1}, {3, 2}}));
  EXPECT_EQ(BagOf(featurizer, "b"), (Bag{{1, 1}}));
  EXPECT_EQ(BagOf(featurizer, "b x c"), (Bag{{1, 1}}));
  EXPECT_EQ(BagOf(featurizer, "b c"), (Bag{{1, 1}, {4, 1}}));
}

TEST(FeaturizerTest, NoKnownFeatureIsAnEmptyBag) {
  const Featurizer featurizer = MakeFeaturizer({"#a#"}, {"a"});
  BagBatch batch;
  featurizer.AppendBag("", batch);
  featurizer.AppendBag("unknown", batch);
  EXPECT_EQ(batch.num_texts(), 2);
  EXPECT_THAT(batch.offsets, ElementsAre(0, 0, 0));
  EXPECT_THAT(batch.indices, IsEmpty());
  EXPECT_THAT(batch.counts, IsEmpty());
}

TEST(FeaturizerTest, BagsFollowOneAnother) {
  const Featurizer featurizer = MakeFeaturizer({"#a#", "#b#"}, {});
  BagBatch batch;
  featurizer.AppendBag("b a b", batch);
  featurizer.AppendBag("c", batch);
  featurizer.AppendBag("a", batch);
  EXPECT_THAT(batch.offsets, ElementsAre(0, 2, 2, 3));
  EXPECT_THAT(batch.indices, ElementsAre(0, 1, 0));
  EXPECT_THAT(batch.counts, ElementsAre(1, 2, 1));
}

// A vocabulary that misses some n-grams and words of the texts below.
class FeaturizerPropertyTest : public ::testing::Test {
 protected:
  FeaturizerPropertyTest() {
    VocabularyBuilder builder;
    for (int i = 0; i < 2000; ++i) builder.AddText(NextText());
    ngrams_ = builder.LetterNgrams(3, 3000, 1);
    featurizer_ = MakeFeaturizer(ngrams_, builder.Words(500, 1));
  }

  std::string NextText() {
    ++calls_;
    return *NormalizeText(calls_ % 2 ? RandomText(random_, calls_ % 30)
                                     : RandomAscii(random_, calls_ % 50));
  }

  int calls_ = 0;
  std::mt19937 random_{6};
  std::vector<std::string> ngrams_;
  std::optional<Featurizer> featurizer_;
};

TEST_F(FeaturizerPropertyTest, BagIsSortedAndCounted) {
  BagBatch batch;
  for (int i = 0; i < 2000; ++i) featurizer_->AppendBag(NextText(), batch);
  ASSERT_EQ(batch.indices.size(), batch.counts.size());
  ASSERT_EQ(batch.offsets.back(), batch.indices.size());
  for (int i = 0; i < batch.num_texts(); ++i) {
    for (std::uint32_t k = batch.offsets[i]; k < batch.offsets[i + 1]; ++k) {
      ASSERT_LT(batch.indices[k],
                static_cast<std::uint32_t>(featurizer_->num_features()));
      ASSERT_GE(batch.counts[k], 1.0f);
      if (k > batch.offsets[i]) {
        ASSERT_LT(batch.indices[k - 1], batch.indices[k]);
      }
    }
  }
}

TEST_F(FeaturizerPropertyTest, BagOfATextIsTheSumOfItsWordsBags) {
  for (int i = 0; i < 2000; ++i) {
    const std::string text = NextText();
    Bag sum;
    ForEachWord(text, [&](std::string_view word) {
      for (const auto& [index, count] : BagOf(*featurizer_, word)) {
        sum[index] += count;
      }
    });
    ASSERT_EQ(BagOf(*featurizer_, text), sum) << text;
  }
}

TEST_F(FeaturizerPropertyTest, OrderOfWordsDoesNotMatter) {
  for (int i = 0; i < 2000; ++i) {
    const std::string text = NextText();
    std::vector<std::string> words;
    ForEachWord(text, [&](std::string_view w) { words.emplace_back(w); });
    std::shuffle(words.begin(), words.end(), random_);
    std::string shuffled;
    for (const std::string& word : words) {
      shuffled += (shuffled.empty() ? "" : " ") + word;
    }
    ASSERT_EQ(BagOf(*featurizer_, text), BagOf(*featurizer_, shuffled)) << text;
  }
}

TEST_F(FeaturizerPropertyTest, BatchDoesNotMatter) {
  BagBatch batch;
  std::vector<std::string> texts;
  for (int i = 0; i < 500; ++i) {
    texts.push_back(NextText());
    featurizer_->AppendBag(texts.back(), batch);
  }
  for (int i = 0; i < batch.num_texts(); ++i) {
    ASSERT_EQ(BagOf(batch, i), BagOf(*featurizer_, texts[i])) << texts[i];
  }
}

TEST_F(FeaturizerPropertyTest, ClearedBatchKeepsItsMemory) {
  BagBatch batch;
  std::vector<std::string> texts;
  for (int i = 0; i < 500; ++i) {
    texts.push_back(NextText());
    featurizer_->AppendBag(texts.back(), batch);
  }
  const auto* const indices = batch.indices.data();
  const auto* const counts = batch.counts.data();
  const auto* const offsets = batch.offsets.data();
  batch.Clear();
  EXPECT_EQ(batch.num_texts(), 0);
  for (const std::string& text : texts) featurizer_->AppendBag(text, batch);
  EXPECT_EQ(batch.indices.data(), indices);
  EXPECT_EQ(batch.counts.data(), counts);
  EXPECT_EQ(batch.offsets.data(), offsets);
}

}  // namespace
}  // namespace semrank
