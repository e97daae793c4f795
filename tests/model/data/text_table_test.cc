#include "model/data/text_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

Featurizer LettersAndWords() {
  auto ngrams = NgramVocabulary::FromList(3, {"#aa", "aaa", "aa#", "#b#"});
  auto words = WordVocabulary::FromList({"b", "c"});
  return *Featurizer::Create(*std::move(ngrams), *std::move(words));
}

TEST(TextInternerTest, EqualTextsShareANumber) {
  TextInterner texts;
  EXPECT_EQ(texts.Intern("a"), 0u);
  EXPECT_EQ(texts.Intern("b"), 1u);
  EXPECT_EQ(texts.Intern("a"), 0u);
  EXPECT_EQ(texts.Intern(""), 2u);
  EXPECT_EQ(texts.size(), 3u);
  EXPECT_EQ(texts.text(1), "b");
}

TEST(TextInternerTest, KeepsTextsApartWhileItGrows) {
  TextInterner texts;
  for (int i = 0; i < 5000; ++i) texts.Intern(std::to_string(i));
  for (int i = 0; i < 5000; ++i) {
    ASSERT_EQ(texts.Intern(std::to_string(i)), static_cast<TextId>(i));
  }
}

TEST(TextBagsTest, BagsAreThoseOfTheFeaturizer) {
  const Featurizer featurizer = LettersAndWords();
  TextInterner texts;
  BagBatch want;
  for (const char* text : {"b c b", "aaaa", "unknown", "c"}) {
    featurizer.AppendBag(texts.text(texts.Intern(text)), want);
  }
  const TextBags bags(texts, featurizer);
  BagBatch batch;
  const std::vector<TextId> ids = {0, 1, 2, 3};
  ASSERT_THAT(bags.Layout(ids, batch), IsOk());
  bags.Fill(ids, 0, 2, batch);
  bags.Fill(ids, 2, 4, batch);
  EXPECT_EQ(batch.offsets, want.offsets);
  EXPECT_EQ(batch.indices, want.indices);
  EXPECT_EQ(batch.counts, want.counts);
}

TEST(TextBagsTest, AnyOrderAndRepeatsOfTexts) {
  TextInterner texts;
  texts.Intern("b");
  texts.Intern("c c");
  const TextBags bags(texts, LettersAndWords());
  BagBatch batch;
  const std::vector<TextId> ids = {1, 0, 1};
  ASSERT_THAT(bags.Layout(ids, batch), IsOk());
  bags.Fill(ids, 0, 3, batch);
  EXPECT_THAT(batch.offsets, ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(batch.indices, ElementsAre(5, 3, 4, 5));
  EXPECT_THAT(batch.counts, ElementsAre(2, 1, 1, 2));
}

TEST(TextBagsTest, CountsBeyondAByteAreExact) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "c ";
  text += "b";
  TextInterner texts;
  texts.Intern("b");
  texts.Intern(text);
  const TextBags bags(texts, LettersAndWords());
  BagBatch batch;
  const std::vector<TextId> ids = {1};
  ASSERT_THAT(bags.Layout(ids, batch), IsOk());
  bags.Fill(ids, 0, 1, batch);
  EXPECT_THAT(batch.counts, ElementsAre(1, 1, 300));
}

TEST(TextBagsTest, WordSequencesHaveOneBagADistinctWord) {
  const Featurizer featurizer = LettersAndWords();
  TextInterner texts;
  WordSequences want;
  for (const char* text : {"b c b", "aaaa", "unknown c", ""}) {
    texts.Intern(text);
    featurizer.AppendWords(text, want);
  }
  const TextBags bags(texts, featurizer, TextForm::kWordSequences);
  ASSERT_EQ(bags.num_bags(), 5u);  // the padding, b, c, aaaa, unknown
  for (int t = 0; t < 4; ++t) {
    EXPECT_THAT(bags.words(t), ElementsAreArray(want.text(t))) << t;
  }
  BagBatch batch;
  const std::vector<std::uint32_t> ids = {TextBags::kPadding, 1, 2, 3, 4};
  ASSERT_THAT(bags.Layout(ids, batch), IsOk());
  bags.Fill(ids, 0, 5, batch);
  EXPECT_EQ(batch.offsets, want.bags.offsets);
  EXPECT_EQ(batch.indices, want.bags.indices);
  EXPECT_EQ(batch.counts, want.bags.counts);
}

TEST(TextBagsTest, AnExtensionHasItsOwnTextsBesideThoseOfItsBase) {
  TextInterner texts;
  texts.Intern("b c c");
  texts.Intern("c");
  const TextBags base(texts, LettersAndWords());
  TextBags bags = TextBags::Extend(base);
  EXPECT_EQ(bags.Append("c b", LettersAndWords()), 2u);
  EXPECT_EQ(bags.Append("b", LettersAndWords()), 3u);
  EXPECT_EQ(bags.num_bags(), 4u);
  EXPECT_EQ(base.num_bags(), 2u);
  TextInterner all;
  for (const char* text : {"b c c", "c", "c b", "b"}) all.Intern(text);
  const TextBags want(all, LettersAndWords());
  BagBatch batch, want_batch;
  const std::vector<TextId> ids = {3, 0, 2, 1};
  ASSERT_THAT(bags.Layout(ids, batch), IsOk());
  bags.Fill(ids, 0, 4, batch);
  ASSERT_THAT(want.Layout(ids, want_batch), IsOk());
  want.Fill(ids, 0, 4, want_batch);
  EXPECT_EQ(batch.offsets, want_batch.offsets);
  EXPECT_EQ(batch.indices, want_batch.indices);
  EXPECT_EQ(batch.counts, want_batch.counts);
}

TEST(TextBagsTest, AnExtensionOfWordSequencesHasItsOwnWords) {
  TextInterner texts;
  texts.Intern("b c");
  const TextBags base(texts, LettersAndWords(), TextForm::kWordSequences);
  TextBags bags = TextBags::Extend(base);
  EXPECT_EQ(bags.Append("c aaaa", LettersAndWords()), 1u);
  EXPECT_THAT(bags.words(0), ElementsAreArray(base.words(0)));
  EXPECT_THAT(bags.words(1), ElementsAre(3, 4));
  BagBatch batch;
  const std::vector<std::uint32_t> ids = {2, 3};
  ASSERT_THAT(bags.Layout(ids, batch), IsOk());
  bags.Fill(ids, 0, 2, batch);
  ASSERT_FALSE(batch.empty(0));
  EXPECT_EQ(std::vector(batch.indices.begin(),
                        batch.indices.begin() + batch.offsets[1]),
            std::vector(batch.indices.begin() + batch.offsets[1],
                        batch.indices.end()))
      << "the same word has the same features";
}

}  // namespace
}  // namespace semrank
