#include "model/eval/vocabulary_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

class VocabularyCommandTest : public ::testing::Test {
 protected:
  // The words as a file through the command; JSON, so that tests can read it.
  std::string Run(std::string_view words, std::vector<int> ngram_lengths) {
    std::ostringstream out;
    EXPECT_THAT(RunVocabularyCommand({.words = dir_.Write("words", words),
                                      .ngram_lengths = std::move(ngram_lengths),
                                      .output = OutputFormat::kJson},
                                     out),
                IsOk());
    return out.str();
  }

  TempDir dir_;
};

TEST_F(VocabularyCommandTest, ThePapersExampleHasFourTrigrams) {
  EXPECT_EQ(Run("good\n", {3}),
            R"({"ngram":3,"words":1,"ngrams":4,"collisions":0})"
            "\n");
}

TEST_F(VocabularyCommandTest, WordsAreNormalisedAndCountOnce) {
  EXPECT_EQ(Run("Good\ngood, GOOD\nDon't\ndont\n\n", {2}),
            R"({"ngram":2,"words":2,"ngrams":10,"collisions":0})"
            "\n");
}

TEST_F(VocabularyCommandTest, OneRowForEachLength) {
  // Both have the bigrams #a ab ab ac b# ba ca; their trigrams differ.
  EXPECT_EQ(Run("abacab\nacabab\n", {2, 3}),
            R"({"ngram":2,"words":2,"ngrams":6,"collisions":1})"
            "\n"
            R"({"ngram":3,"words":2,"ngrams":8,"collisions":0})"
            "\n");
}

TEST_F(VocabularyCommandTest, TableHasAHeading) {
  std::ostringstream out;
  EXPECT_THAT(
      RunVocabularyCommand({.words = dir_.Write("words", "good\n")}, out),
      IsOk());
  EXPECT_EQ(out.str(),
            "ngram      words     ngrams collisions     of words\n"
            "    2          1          5          0     0.0000 %\n"
            "    3          1          4          0     0.0000 %\n");
}

TEST_F(VocabularyCommandTest, NoWordsAndNoFileAreErrors) {
  std::ostringstream out;
  EXPECT_THAT(
      RunVocabularyCommand({.words = dir_.Write("words", "...\n")}, out),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("no words")));
  EXPECT_THAT(RunVocabularyCommand({.words = dir_.File("none")}, out),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(out.str(), "");
}

}  // namespace
}  // namespace semrank
