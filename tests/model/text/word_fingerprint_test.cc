#include "model/text/word_fingerprint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/text/word_vocabulary.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<TextWord> TextWords(std::string_view normalized) {
  std::vector<TextWord> words;
  AppendTextWords(normalized, words);
  return words;
}

TEST(WordFingerprintTest, TextWordsAreItsWordsAndTheBigramsThatEndWithThem) {
  std::vector<std::string_view> words, bigrams;
  for (const TextWord& word : TextWords("open the caf\u00E9")) {
    words.push_back(word.word);
    bigrams.push_back(word.bigram);
    EXPECT_EQ(word.key, WordFingerprint(word.word));
  }
  EXPECT_THAT(words, ElementsAre("open", "the", "caf\u00E9"));
  EXPECT_THAT(bigrams, ElementsAre("", "open the", "the caf\u00E9"));
  EXPECT_THAT(TextWords(""), IsEmpty());
}

TEST(WordFingerprintTest, AVocabularyFindsATextsBigramsByTheirKeys) {
  ASSERT_OK_AND_ASSIGN(const WordVocabulary bigrams,
                       WordVocabulary::FromBigramList({"a b", "b c"}));
  std::vector<std::optional<std::uint32_t>> found;
  for (const TextWord& word : TextWords("a b a b c")) {
    if (word.bigram.empty()) continue;
    found.push_back(bigrams.Find(word.bigram, word.bigram_key));
    EXPECT_EQ(found.back(), bigrams.Find(word.bigram));
  }
  EXPECT_THAT(found, ElementsAre(0u, std::nullopt, 0u, 1u));
}

TEST(WordFingerprintTest, BigramsInTheOtherOrderHaveAnotherKey) {
  const Fingerprint a = WordFingerprint("a"), b = WordFingerprint("b");
  EXPECT_FALSE(BigramFingerprint(a, b) == BigramFingerprint(b, a));
}

}  // namespace
}  // namespace semrank
