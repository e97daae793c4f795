#include "model/train/batches/streamed_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "model/train/data/memory_budget.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kPairs = 3000;

// Pair i is "q<i / 3> TAB t<i>", clicked i % 3 + 1 times; one line in ten is
// bad or has no click.
class StreamedPairsTest : public ::testing::Test {
 protected:
  StreamedPairsTest() {
    std::string lines;
    for (int i = 0; i < kPairs; ++i) {
      lines += "q" + std::to_string(i / 3) + "\tt" + std::to_string(i) + "\t" +
               std::to_string(i % 3 + 1) + "\n";
      if (i % 10 == 0) lines += "q\tnever\t0\n";
      if (i % 500 == 0) lines += "bad line\n";
    }
    options_.data.train_files = {dir_.Write("pairs.tsv", lines)};
    options_.data.model_dir = "unused";
    options_.data.memory_limit = 600'000;
    options_.tower.hidden_dims = {4};
    options_.tower.embedding_dim = 2;
    options_.features.kind = v1::FEATURE_KIND_LETTERS;
    options_.features.ngram_length = 1;
    options_.batch_size = 16;
    options_.data.valid_fraction = 0;
    options_.threads = 1;
  }

  // What is compared of a batch: everything.
  struct Batch {
    std::vector<TextId> queries, titles;
    BagBatch bags;
    std::vector<std::uint32_t> candidates;
    friend bool operator==(const Batch& a, const Batch& b) {
      return a.queries == b.queries && a.titles == b.titles &&
             a.bags.indices == b.bags.indices &&
             a.bags.offsets == b.bags.offsets && a.candidates == b.candidates;
    }
  };

  static Batch Copy(const MiniBatch& batch) {
    Batch copy = {batch.queries, batch.titles, {}, batch.candidates.indices};
    EXPECT_THAT(batch.bags->Layout(batch.titles, copy.bags), IsOk());
    batch.bags->Fill(batch.titles, 0, static_cast<int>(batch.titles.size()),
                     copy.bags);
    return copy;
  }

  absl::StatusOr<TrainingData> Load() {
    if (!resolved_) {
      EXPECT_THAT(ResolveOptions(options_), IsOk());
    }
    resolved_ = true;
    BadLines bad_lines(100);
    return LoadTrainingData(options_, bad_lines);
  }

  std::vector<Batch> Epoch(int epoch, std::int64_t first_batch = 0) {
    const auto data = Load();
    EXPECT_THAT(data, IsOk());
    EXPECT_NE(data->stream, nullptr);
    const auto source = MakeBatchSource(options_, *data);
    EXPECT_THAT(source, IsOk());
    EXPECT_THAT((*source)->BeginEpoch(epoch, first_batch), IsOk());
    std::vector<Batch> batches;
    for (;;) {
      const auto batch = (*source)->Next();
      EXPECT_THAT(batch, IsOk());
      if (!batch.ok() || *batch == nullptr) return batches;
      batches.push_back(Copy(**batch));
    }
  }

  TempDir dir_;
  TrainOptions options_;
  bool resolved_ = false;
};

// 6,000 words that occur once, 20 that occur often, and one at the beginning
// that does not come again.
TEST_F(StreamedPairsTest, ForgetsRareWordsButNotTheirLetters) {
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

TEST_F(StreamedPairsTest, DrawsEachTrainingPairOnceAnEpoch) {
  ASSERT_OK_AND_ASSIGN(const TrainingData data, Load());
  ASSERT_NE(data.stream, nullptr);
  EXPECT_EQ(data.stream->num_pairs, kPairs);
  EXPECT_EQ(data.statistics.bad_lines, 6);
  ASSERT_OK_AND_ASSIGN(PairDrawer drawer, PairDrawer::Create(options_, data));
  std::vector<std::string> orders[2];
  for (int epoch = 0; epoch < 2; ++epoch) {
    drawer.BeginEpoch(epoch);
    ClickPair pair;
    for (int i = 0; i < kPairs; ++i) {
      ASSERT_THAT(drawer.Draw(pair), IsOk());
      orders[epoch].push_back(pair.query + " " + pair.title);
    }
    EXPECT_THAT(drawer.Draw(pair),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("pairs.tsv")));
  }
  EXPECT_NE(orders[0], orders[1]);
  std::vector<std::string> want;
  for (int i = 0; i < kPairs; ++i) {
    want.push_back("q" + std::to_string(i / 3) + " t" + std::to_string(i));
  }
  std::sort(want.begin(), want.end());
  for (auto& order : orders) {
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, want);
  }
}

TEST_F(StreamedPairsTest, RepeatDrawsAPairAsOftenAsItWasClicked) {
  options_.loss.clicks = v1::CLICK_USE_REPEAT;
  ASSERT_OK_AND_ASSIGN(const TrainingData data, Load());
  EXPECT_EQ(data.stream->num_clicks, 2 * kPairs);
  ASSERT_OK_AND_ASSIGN(PairDrawer drawer, PairDrawer::Create(options_, data));
  drawer.BeginEpoch(1);
  std::map<std::string, std::int64_t> missing;
  ClickPair pair;
  for (int i = 0; i < 2 * kPairs; ++i) {
    ASSERT_THAT(drawer.Draw(pair), IsOk());
    const auto [entry, is_new] = missing.try_emplace(pair.title, pair.clicks);
    --entry->second;
  }
  for (const auto& [title, count] : missing) EXPECT_EQ(count, 0) << title;
}

// As the settings of a grid do.
TEST_F(StreamedPairsTest, RunsOfOtherSettingsShareAStream) {
  ASSERT_OK_AND_ASSIGN(const TrainingData data, Load());
  TrainOptions other = options_;
  other.loss.clicks = v1::CLICK_USE_REPEAT;
  ASSERT_OK_AND_ASSIGN(const auto source, MakeBatchSource(other, data));
  EXPECT_EQ(source->num_pairs(), 2 * kPairs);
  other.tower.hidden_dims = {1000};
  EXPECT_THAT(MakeBatchSource(other, data),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST_F(StreamedPairsTest, HugeClickCountsAreCapped) {
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

TEST_F(StreamedPairsTest, ThreadsDoNotChangeABatch) {
  options_.loss.sampling = v1::NEGATIVE_SAMPLING_UNIFORM;
  const auto batches = Epoch(1);
  EXPECT_EQ(batches.size(), (kPairs + 15) / 16u);
  options_.threads = 16;
  EXPECT_TRUE(Epoch(1) == batches);
  EXPECT_FALSE(Epoch(2) == batches);
}

TEST_F(StreamedPairsTest, GoesOnAtAnyBatch) {
  const auto batches = Epoch(2);
  for (const std::int64_t first : {1, 100, static_cast<int>(batches.size())}) {
    EXPECT_TRUE(Epoch(2, first) ==
                std::vector(batches.begin() + first, batches.end()));
  }
}

TEST_F(StreamedPairsTest, EqualTextsOfABatchHaveEqualNumbers) {
  options_.batch_size = 512;
  options_.data.memory_limit = 8'000'000;
  // 512 of 3,000 pairs: some queries come two or three times.
  ASSERT_OK_AND_ASSIGN(TrainingData data, [&]() {
    EXPECT_THAT(ResolveOptions(options_), IsOk());
    BadLines bad_lines(100);
    return LoadStreamedData(options_, bad_lines);
  }());
  ASSERT_OK_AND_ASSIGN(const auto source, MakeBatchSource(options_, data));
  ASSERT_THAT(source->BeginEpoch(1, 0), IsOk());
  ASSERT_OK_AND_ASSIGN(const MiniBatch* batch, source->Next());
  std::vector<TextId> queries = batch->queries;
  std::sort(queries.begin(), queries.end());
  queries.erase(std::unique(queries.begin(), queries.end()), queries.end());
  EXPECT_LT(queries.size(), batch->queries.size());
}

TEST_F(StreamedPairsTest, HeldOutQueriesAreNotTrainedOn) {
  options_.data.valid_fraction = 0.1;
  ASSERT_OK_AND_ASSIGN(const TrainingData data, Load());
  ASSERT_FALSE(data.valid_pairs.empty());
  const std::int64_t num_valid =
      static_cast<std::int64_t>(data.valid_pairs.size());
  EXPECT_LE(num_valid * 2 * KeptTextBytes(2),
            ShareForCounting(options_).valid_pair_bytes);
  EXPECT_EQ(data.stream->num_pairs + num_valid, kPairs);
  ASSERT_OK_AND_ASSIGN(PairDrawer drawer, PairDrawer::Create(options_, data));
  drawer.BeginEpoch(1);
  ClickPair pair;
  for (std::int64_t i = 0; i < data.stream->num_pairs; ++i) {
    ASSERT_THAT(drawer.Draw(pair), IsOk());
    for (const TextPair& held_out : data.valid_pairs) {
      ASSERT_NE(data.stream->texts.text(held_out.query), pair.query);
    }
  }
}

TEST_F(StreamedPairsTest, FewerPairsThanCountedAreFoundOut) {
  ASSERT_OK_AND_ASSIGN(const TrainingData data, Load());
  ASSERT_OK_AND_ASSIGN(const auto source, MakeBatchSource(options_, data));
  std::ofstream(options_.data.train_files[0]) << "q\tt\n";
  ASSERT_THAT(source->BeginEpoch(1, 0), IsOk());
  EXPECT_THAT(source->Next(), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(StreamedPairsTest, ALimitThatLeavesNoRoomIsRefused) {
  options_.data.memory_limit = 20'000;
  EXPECT_THAT(Load(), StatusIs(absl::StatusCode::kResourceExhausted,
                               HasSubstr("--memory_limit=20000")));
}

TEST_F(StreamedPairsTest, CandidatesOfABatchCountAgainstTheLimit) {
  options_.data.memory_limit = 24'000'000;
  options_.batch_size = 1000;
  options_.loss.negatives = 4;
  EXPECT_THAT(Load(), IsOk());
  options_.loss.negatives = 500;
  EXPECT_THAT(Load(), StatusIs(absl::StatusCode::kResourceExhausted,
                               HasSubstr("--negatives")));
}

TEST_F(StreamedPairsTest, AllThatSsiLearnsCountsAgainstTheLimit) {
  options_.tower.kind = v1::TOWER_KIND_SSI;
  options_.features.kind = v1::FEATURE_KIND_WORDS;
  options_.data.memory_limit = 500'000;
  EXPECT_THAT(Load(), IsOk());
  const auto expect_refused = [this] {
    EXPECT_THAT(Load(), StatusIs(absl::StatusCode::kResourceExhausted,
                                 AllOf(HasSubstr("--memory_limit=500000"),
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

TEST_F(StreamedPairsTest, ALimitCountsTheModelBesidePairsThatFit) {
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

TEST_F(StreamedPairsTest, WhatFitsIsHeldInMemory) {
  options_.data.memory_limit = 0;
  ASSERT_OK_AND_ASSIGN(const TrainingData data, Load());
  EXPECT_EQ(data.stream, nullptr);
  EXPECT_EQ(data.train_pairs.size(), std::size_t{kPairs});
}

TEST_F(StreamedPairsTest, HardNegativesOfAStreamComeFromJudgements) {
  options_.loss.sampling = v1::NEGATIVE_SAMPLING_SHOWN_NOT_CLICKED;
  EXPECT_THAT(Load(), StatusIs(absl::StatusCode::kResourceExhausted,
                               HasSubstr("--judged")));
  options_.data.judged_file = dir_.Write("j.tsv", "q7\tworse\t0\n");
  ASSERT_OK_AND_ASSIGN(const TrainingData data, Load());
  EXPECT_EQ(data.shown.Of(*data.stream->texts.Find("q7")).size(), 1u);
}

}  // namespace
}  // namespace semrank
