#include "model/train/start/vocabulary_union.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;

std::optional<WordVocabulary> Words(std::vector<std::string> words) {
  return WordVocabulary::FromList(std::move(words)).value();
}

TEST(VocabularyUnionTest, NewFeaturesFollowThoseOfTheStart) {
  const Featurizer start =
      Featurizer::Create(NgramVocabulary::FromList(3, {"#ab", "ab#"}).value(),
                         Words({"ab", "zz"}))
          .value();
  const Featurizer run =
      Featurizer::Create(
          NgramVocabulary::FromList(3, {"ab#", "#ac", "ac#"}).value(),
          std::nullopt, WordVocabulary::FromBigramList({"ab ac"}).value())
          .value();
  ASSERT_OK_AND_ASSIGN(const Featurizer united, UniteFeatures(start, run));
  EXPECT_THAT(united.ngrams()->ngrams(),
              ElementsAre("#ab", "ab#", "#ac", "ac#"));
  EXPECT_THAT(united.words()->words(), ElementsAre("ab", "zz"));
  EXPECT_THAT(united.bigrams()->words(), ElementsAre("ab ac"));

  const auto ranges = RangesOfStart(start, united);
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].from, 0);
  EXPECT_EQ(ranges[0].to, 0);
  EXPECT_EQ(ranges[0].count, 2);
  EXPECT_EQ(ranges[1].from, 2);
  EXPECT_EQ(ranges[1].to, 4);
  EXPECT_EQ(ranges[1].count, 2);
}

TEST(VocabularyUnionTest, HashedNgramsStayThoseOfTheStart) {
  const auto hashed = [] {
    return Featurizer::Create(NgramVocabulary::Hashed(3, 64).value(),
                              std::nullopt)
        .value();
  };
  ASSERT_OK_AND_ASSIGN(const Featurizer united,
                       UniteFeatures(hashed(), hashed()));
  EXPECT_EQ(united.num_features(), 64);
  const Featurizer listed =
      Featurizer::Create(NgramVocabulary::FromList(3, {"#ab"}).value(),
                         std::nullopt)
          .value();
  EXPECT_THAT(UniteFeatures(hashed(), listed).status(),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace semrank
