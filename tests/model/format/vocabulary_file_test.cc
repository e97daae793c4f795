#include "model/format/vocabulary_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(VocabularyFileTest, ReadsWhatItWrites) {
  ASSERT_OK_AND_ASSIGN(const auto lines,
                       ParseLines(FormatLines({"#ca", "üb#", "日本"}), 3));
  EXPECT_THAT(lines, ElementsAre("#ca", "üb#", "日本"));
}

TEST(VocabularyFileTest, RefusesOtherNumbersOfLines) {
  for (const std::string content :
       {"", "a\n", "a\nb\nc\n", "a\nb", "a\nb\nc"}) {
    EXPECT_THAT(
        ParseLines(content, 2),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("says 2")))
        << content;
  }
}

TEST(VocabularyFileTest, RefusesWhatIsNotUtf8) {
  for (const std::string content : {"a\xFF\n", "\xC3\n", "\xED\xA0\x80\n"}) {
    EXPECT_THAT(
        ParseLines(content, 1),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("UTF-8")));
  }
}

TEST(VocabularyFileTest, ComparesTheSpecWithTheVocabularies) {
  const Featurizer featurizer = *Featurizer::Create(
      *NgramVocabulary::FromList(3, {"#ca", "cat"}), std::nullopt);
  v1::FeatureSpec spec;
  spec.set_ngram_length(3);
  spec.set_num_ngrams(2);
  EXPECT_THAT(CheckSpec(spec, featurizer), IsOk());
  spec.set_num_words(1);
  EXPECT_THAT(CheckSpec(spec, featurizer),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("num_words is 1")));
  spec.set_num_words(0);
  spec.set_num_ngrams(3);
  EXPECT_THAT(CheckSpec(spec, featurizer),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("num_ngrams is 3")));
}

}  // namespace
}  // namespace semrank
