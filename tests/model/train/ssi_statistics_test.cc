#include "model/train/ssi_statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;

// Words a to f are 0 to 5; text 5 is no document.
class SsiStatisticsTest : public ::testing::Test {
 protected:
  static TextBags MakeBags() {
    TextInterner texts;
    for (const char* text :
         {"a b e", "a a e", "b c e f", "a b c", "d", "d e f f"}) {
      texts.Intern(text);
    }
    auto words = WordVocabulary::FromList({"a", "b", "c", "d", "e", "f"});
    auto featurizer = Featurizer::Create(std::nullopt, *std::move(words));
    return TextBags(texts, *featurizer);
  }

  const TextBags bags_ = MakeBags();
  const std::vector<TextId> documents_ = {0, 1, 2, 3, 4};
};

TEST_F(SsiStatisticsTest, IdfCountsDocumentsNotOccurrences) {
  const auto idf = [](double n) {
    return FloatNear(static_cast<float>(std::log(6 / (n + 1)) + 1), 1e-6f);
  };
  EXPECT_THAT(InverseDocumentFrequencies(bags_, documents_, 6),
              ElementsAre(idf(3), idf(3), idf(2), idf(1), idf(3), idf(1)));
}

TEST_F(SsiStatisticsTest, CorrelatedWordsAreTheHighestDice) {
  // e: a and b in 2 of 3 + 3 documents each, c in 1 of 3 + 2. f: c 2/3, b 2/4.
  // d stands alone.
  EXPECT_THAT(CorrelatedWords(bags_, documents_, 6, 3, 2),
              ElementsAre(-1, -1, 0, 1, 2, 1));
  EXPECT_THAT(CorrelatedWords(bags_, documents_, 6, 4, 4),
              ElementsAre(0, 1, 2, -1, 2, 1, -1, -1));
}

TEST_F(SsiStatisticsTest, TheOrderOfDocumentsDoesNotMatter) {
  const std::vector<TextId> turned = {4, 3, 2, 1, 0};
  EXPECT_EQ(CorrelatedWords(bags_, turned, 6, 3, 2),
            CorrelatedWords(bags_, documents_, 6, 3, 2));
}

}  // namespace
}  // namespace semrank
