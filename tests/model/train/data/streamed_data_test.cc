#include "model/train/data/streamed_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/train/data/memory_budget.h"
#include "tests/model/train/data/streamed_log_fixture.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using StreamedDataTest = StreamedLogTest;

// 6,000 words that occur once, 20 that occur often, and one at the beginning
// that does not come again.
TEST_F(StreamedDataTest, ForgetsRareWordsButNotTheirLetters) {
  std::string lines = "xyz\tonce\n";
  for (int i = 0; i < 3000; ++i) {
    std::string rare[2];
    for (int bit = 0; bit < 12; ++bit) {
      rare[0] += (i >> bit & 1) != 0 ? 'a' : 'b';
      rare[1] += (i >> bit & 1) != 0 ? 'c' : 'd';
    }
    lines +=
        rare[0] + " often" + std::to_string(i % 20) + "\t" + rare[1] + "\n";
  }
  options_.data.train_files = {dir_.Write("words.tsv", lines)};
  options_.data.memory_limit = 400'000;
  options_.features.ngram_length = 3;
  ASSERT_OK_AND_ASSIGN(const TrainingData letters, Load());
  ASSERT_NE(letters.stream, nullptr);
  const NgramVocabulary& ngrams = *letters.featurizer.ngrams();
  for (const char* ngram : {"#xy", "xyz", "yz#", "nce", "aba", "dd#"}) {
    EXPECT_THAT(ngrams.ngrams(), ::testing::Contains(ngram));
  }

  options_.features.kind = v1::FEATURE_KIND_WORDS;
  ASSERT_OK_AND_ASSIGN(const TrainingData data, Load());
  const std::vector<std::string>& words = data.featurizer.words()->words();
  EXPECT_LE(CountedWordsBytes(static_cast<std::int64_t>(words.size()), 0),
            ShareForCounting(options_).word_bytes);
  EXPECT_GT(words.size(), 20u);
  EXPECT_TRUE(std::all_of(words.begin(), words.begin() + 20, [](auto& word) {
    return word.starts_with("often");
  }));
  EXPECT_THAT(words, ::testing::Not(::testing::Contains("xyz")));
}

TEST_F(StreamedDataTest, HugeClickCountsAreCapped) {
  std::string lines;
  for (int i = 0; i < kPairs; ++i) {
    lines += "q" + std::to_string(i) + "\tt" + std::to_string(i) +
             "\t9223372036854775807\n";
  }
  options_.data.train_files = {dir_.Write("pairs.tsv", lines)};
  ASSERT_OK_AND_ASSIGN(const TrainingData data, Load());
  ASSERT_NE(data.stream, nullptr);
  EXPECT_EQ(data.stream->num_clicks, kPairs * 0xffffffffL);
}

TEST_F(StreamedDataTest, ALimitThatLeavesNoRoomIsRefused) {
  options_.tower.hidden_dims = {10'000};
  EXPECT_THAT(Load(), StatusIs(absl::StatusCode::kResourceExhausted,
                               AllOf(HasSubstr("--memory_limit=600000"),
                                     HasSubstr("--hidden"))));
}

// So that the order of the pairs is the same for all numbers of threads.
TEST_F(StreamedDataTest, ABiggerModelLeavesLessToShuffleWhateverTheThreads) {
  ASSERT_OK_AND_ASSIGN(const TrainingData small, Load());
  options_.threads = 16;
  ASSERT_OK_AND_ASSIGN(const TrainingData threads, Load());
  EXPECT_EQ(threads.stream->shuffle_bytes, small.stream->shuffle_bytes);
  options_.tower.hidden_dims = {500};
  ASSERT_OK_AND_ASSIGN(const TrainingData big, Load());
  EXPECT_LT(big.stream->shuffle_bytes, small.stream->shuffle_bytes);
}

TEST_F(StreamedDataTest, CountsPairsClicksTextsAndBadLines) {
  ASSERT_OK_AND_ASSIGN(const TrainingData data, Load());
  EXPECT_TRUE(data.train_pairs.empty());
  EXPECT_EQ(data.stream->num_pairs, kPairs);
  EXPECT_EQ(data.stream->num_clicks, 2 * kPairs);
  EXPECT_EQ(data.statistics.train_pairs, kPairs);
  EXPECT_EQ(data.statistics.bad_lines, 6);
  EXPECT_FALSE(data.statistics.distinct_texts);
  EXPECT_EQ(data.statistics.queries.num_texts(), kPairs);
}

TEST_F(StreamedDataTest, SampledTitlesAreDistinctTitlesOfTheLog) {
  ASSERT_OK_AND_ASSIGN(const TrainingData data, Load());
  EXPECT_GT(data.titles.size(), 16u);
  EXPECT_LT(data.titles.size(), kPairs);
  EXPECT_EQ(std::set<TextId>(data.titles.begin(), data.titles.end()).size(),
            data.titles.size());
  for (const TextId title : data.titles) {
    EXPECT_EQ(data.stream->texts.text(title)[0], 't');
  }
}

TEST_F(StreamedDataTest, TheCatalogueIsComparedWithTheSampledTitles) {
  options_.features.lexical = "auto";
  std::string docs;
  // Half of the catalogue is in the log; the sample has a part of its titles.
  for (int i = 0; i < 2 * kPairs; ++i)
    docs += absl::StrFormat("%d\tt%d\n", i, i);
  options_.data.docs_file = dir_.Write("docs.tsv", docs);
  ASSERT_OK_AND_ASSIGN(const TrainingData data, Load());
  ASSERT_NE(data.stream, nullptr);
  EXPECT_FALSE(data.stream->has_all_titles);
  EXPECT_EQ(data.catalogue.size(), 2u * kPairs);
  EXPECT_EQ(data.statistics.catalogue_titles, 2 * kPairs);
  EXPECT_NEAR(data.statistics.known_share, 0.5, 0.1);
  EXPECT_FALSE(data.lexical_idf.empty());
}

// What is held out is not learned from.
TEST_F(StreamedDataTest, TheFitOfTheLexicalWeightTakesFewPairs) {
  std::string lines;
  for (int i = 0; i < 150'000; ++i) {
    lines += absl::StrFormat("q%d\tt%d\n", i, i % 50);
  }
  options_.data.train_files = {dir_.Write("pairs.tsv", lines)};
  options_.data.memory_limit = 31'000'000;
  options_.features.lexical = "auto";
  ASSERT_OK_AND_ASSIGN(const TrainingData data, Load());
  ASSERT_NE(data.stream, nullptr);
  EXPECT_EQ(data.valid_pairs.size(), 4'000u);
  EXPECT_EQ(data.stream->num_pairs, 146'000);
}

// The fit takes 10 pairs of a query, so further lines of it do not count.
TEST_F(StreamedDataTest, TheFitOfTheLexicalWeightTakesManyQueries) {
  std::string lines;
  for (int i = 0; i < 300'000; ++i) {
    lines += absl::StrFormat("q%d\tt%d\n", i % 3000, i);
  }
  options_.data.train_files = {dir_.Write("pairs.tsv", lines)};
  options_.data.memory_limit = 60'000'000;
  options_.features.lexical = "auto";
  ASSERT_OK_AND_ASSIGN(const TrainingData data, Load());
  ASSERT_NE(data.stream, nullptr);
  EXPECT_GT(data.valid_pairs.size(), 5'000u);
}

// A single title would always have loss 0.
TEST_F(StreamedDataTest, HeldOutPairsOfOneTitleAreTrainedOnAfterAll) {
  std::string lines;
  for (int i = 0; i < kPairs; ++i) {
    lines +=
        "q" + std::to_string(i) + "\t" + (i == 0 ? "other" : "same") + "\n";
  }
  options_.data.train_files = {dir_.Write("pairs.tsv", lines)};
  options_.data.memory_limit = 100'000;
  options_.data.valid_fraction = 0.001;
  ASSERT_OK_AND_ASSIGN(const TrainingData data, Load());
  EXPECT_TRUE(data.valid_pairs.empty());
  EXPECT_EQ(data.stream->num_pairs, kPairs);
  EXPECT_EQ(data.stream->held_out_below, 0u);
}

TEST_F(StreamedDataTest, OneTitleIsRefused) {
  std::string lines;
  for (int i = 0; i < kPairs; ++i) {
    lines += "q" + std::to_string(i) + "\tsame\n";
  }
  options_.data.train_files = {dir_.Write("pairs.tsv", lines)};
  options_.data.memory_limit = 100'000;
  EXPECT_THAT(Load(), StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr("fewer than two titles")));
}

TEST_F(StreamedDataTest, BigramsAreCountedInBoundedMemory) {
  std::string lines;
  for (int i = 0; i < 20000; ++i) {
    lines += absl::StrFormat("open file %d\tclose file %d\n", i, i);
  }
  options_.data.train_files = {dir_.Write("pairs.tsv", lines)};
  options_.features.kind = v1::FEATURE_KIND_LETTERS_AND_BIGRAMS;
  ASSERT_OK_AND_ASSIGN(const TrainingData data, Load());
  ASSERT_NE(data.stream, nullptr);
  EXPECT_THAT(data.featurizer.bigrams()->words(),
              ::testing::IsSupersetOf({"close file", "open file"}));
  EXPECT_LT(data.featurizer.bigrams()->size(), 20000);
}

TEST_F(StreamedDataTest, AllThatSsiLearnsCountsAgainstTheLimit) {
  options_.tower.kind = v1::TOWER_KIND_SSI;
  options_.features.kind = v1::FEATURE_KIND_WORDS;
  options_.data.memory_limit = 280'000;
  EXPECT_THAT(Load(), IsOk());
  const auto expect_refused = [this] {
    EXPECT_THAT(Load(), StatusIs(absl::StatusCode::kResourceExhausted,
                                 AllOf(HasSubstr("--memory_limit=280000"),
                                       HasSubstr("--max_words"))));
  };
  options_.tower.embedding_dim = 100;
  expect_refused();
  options_.tower.embedding_dim = 2;
  options_.ssi = {.frequent_words = 100, .correlated_top_k = 64};
  expect_refused();
  options_.tower.embedding_dim = 0;
  options_.ssi = {.variant = v1::SSI_VARIANT_DIAGONAL};
  EXPECT_THAT(Load(), IsOk());
  options_.ssi = {.variant = v1::SSI_VARIANT_FULL};
  expect_refused();
  options_.ssi.pair_hash_buckets = 1 << 18;
  expect_refused();
  options_.ssi.pair_hash_buckets = 1 << 10;
  EXPECT_THAT(Load(), IsOk());
}

TEST_F(StreamedDataTest, ALimitCountsTheModelBesidePairsThatFit) {
  options_.data.memory_limit = 64 << 20;
  ASSERT_OK_AND_ASSIGN(TrainingData data, Load());
  EXPECT_EQ(data.stream, nullptr);
  // 16 MB of weights, four times over.
  options_.tower = {.kind = v1::TOWER_KIND_DSSM, .hidden_dims = {2000, 2000}};
  EXPECT_THAT(Load(), StatusIs(absl::StatusCode::kResourceExhausted,
                               HasSubstr("--memory_limit=67108864")));
  options_.data.memory_limit = 0;
  EXPECT_THAT(Load(), IsOk());
}

TEST_F(StreamedDataTest, WhatFitsIsHeldInMemory) {
  options_.data.memory_limit = 0;
  ASSERT_OK_AND_ASSIGN(const TrainingData data, Load());
  EXPECT_EQ(data.stream, nullptr);
  EXPECT_EQ(data.train_pairs.size(), std::size_t{kPairs});
}

TEST_F(StreamedDataTest, LogQOfAStreamIsRefused) {
  options_.loss.logq = 0.5;
  EXPECT_THAT(Load(), StatusIs(absl::StatusCode::kResourceExhausted,
                               HasSubstr("--logq=0.5")));
}

TEST_F(StreamedDataTest, HardNegativesOfAStreamComeFromJudgements) {
  options_.loss.sampling = v1::NEGATIVE_SAMPLING_SHOWN_NOT_CLICKED;
  EXPECT_THAT(Load(), StatusIs(absl::StatusCode::kResourceExhausted,
                               HasSubstr("--judged")));
  options_.data.judged_file = dir_.Write("j.tsv", "q7\tworse\t0\n");
  ASSERT_OK_AND_ASSIGN(const TrainingData data, Load());
  EXPECT_EQ(data.shown.Of(*data.stream->texts.Find("q7")).size(), 1u);
}

}  // namespace
}  // namespace semrank
