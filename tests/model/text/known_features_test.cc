#include "model/text/known_features.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

namespace semrank {
namespace {

Featurizer Make(std::optional<NgramVocabulary> ngrams,
                std::optional<WordVocabulary> words,
                std::optional<WordVocabulary> bigrams = std::nullopt) {
  return Featurizer::Create(std::move(ngrams), std::move(words),
                            std::move(bigrams))
      .value();
}

NgramVocabulary GoodTrigrams() {
  return NgramVocabulary::FromList(3, {"#go", "goo", "ood", "od#"}).value();
}

TEST(KnownFeaturesTest, CountsWordsAndTrigramsThatAreKnown) {
  const KnownFeatures known =
      CountKnownFeatures(Make(GoodTrigrams(), std::nullopt), "good goose xyz");
  EXPECT_EQ(known.num_words, 3u);
  EXPECT_EQ(known.num_known_words, 2u);  // goose has #go and goo
  EXPECT_EQ(known.num_ngrams, 4u + 5u + 3u);
  EXPECT_EQ(known.num_known_ngrams, 4u + 2u);
  EXPECT_EQ(known.num_listed_words, 0u);
}

TEST(KnownFeaturesTest, AWordAloneOrABigramMakesAWordKnown) {
  const Featurizer words =
      Make(std::nullopt, WordVocabulary::FromList({"good"}).value());
  const KnownFeatures listed = CountKnownFeatures(words, "good dog");
  EXPECT_EQ(listed.num_known_words, 1u);
  EXPECT_EQ(listed.num_listed_words, 1u);
  EXPECT_EQ(listed.num_ngrams, 0u);
  const Featurizer bigrams =
      Make(GoodTrigrams(), std::nullopt,
           WordVocabulary::FromBigramList({"a dog"}).value());
  EXPECT_EQ(CountKnownFeatures(bigrams, "a dog").num_known_words, 1u);
}

TEST(KnownFeaturesTest, NothingIsKnownOfAnEmptyText) {
  const KnownFeatures known =
      CountKnownFeatures(Make(GoodTrigrams(), std::nullopt), "");
  EXPECT_EQ(known.num_words, 0u);
  EXPECT_EQ(known.num_known_words, 0u);
}

TEST(KnownFeaturesTest, HashedTrigramsAreAllKnown) {
  const Featurizer hashed =
      Make(NgramVocabulary::Hashed(3, 100).value(), std::nullopt);
  EXPECT_EQ(CountKnownFeatures(hashed, "xyz").num_known_ngrams, 3u);
}

}  // namespace
}  // namespace semrank
