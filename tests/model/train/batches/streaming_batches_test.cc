
#include "model/train/batches/streaming_batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "model/data/text_pairs.h"
#include "model/train/data/load_training_data.h"
#include "model/train/data/memory_budget.h"
#include "model/train/options/resolve_options.h"
#include "tests/model/train/data/streamed_log_fixture.h"

namespace semrank {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

class StreamingBatchesTest : public StreamedLogTest {
 protected:
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

  std::vector<Batch> Epoch(int epoch, std::int64_t first_batch = 0) {
    const auto data = Load();
    EXPECT_THAT(data, IsOk());
    EXPECT_NE(data->stream, nullptr);
    const auto source = StreamingBatches::Create(options_, *data);
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
};

TEST_F(StreamingBatchesTest, DrawsEachTrainingPairOnceAnEpoch) {
  ASSERT_OK_AND_ASSIGN(const TrainingData data, Load());
  ASSERT_NE(data.stream, nullptr);
  EXPECT_EQ(data.stream->num_pairs, kPairs);
  EXPECT_EQ(data.statistics.bad_lines, 6);
  ASSERT_OK_AND_ASSIGN(PairShuffler shuffler,
                       PairShuffler::Create(options_, data));
  std::vector<std::string> orders[2];
  for (int epoch = 0; epoch < 2; ++epoch) {
    shuffler.BeginEpoch(epoch);
    ClickPair pair;
    for (int i = 0; i < kPairs; ++i) {
      ASSERT_THAT(shuffler.Next(pair), IsOk());
      orders[epoch].push_back(pair.query + " " + pair.title);
    }
    EXPECT_THAT(shuffler.Next(pair),
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

TEST_F(StreamingBatchesTest, RepeatDrawsAPairAsOftenAsItWasClicked) {
  options_.loss.clicks = v1::CLICK_USE_REPEAT;
  ASSERT_OK_AND_ASSIGN(const TrainingData data, Load());
  EXPECT_EQ(data.stream->num_clicks, 2 * kPairs);
  ASSERT_OK_AND_ASSIGN(PairShuffler shuffler,
                       PairShuffler::Create(options_, data));
  shuffler.BeginEpoch(1);
  std::map<std::string, std::int64_t> missing;
  ClickPair pair;
  for (int i = 0; i < 2 * kPairs; ++i) {
    ASSERT_THAT(shuffler.Next(pair), IsOk());
    const auto [entry, is_new] = missing.try_emplace(pair.title, pair.clicks);
    --entry->second;
  }
  for (const auto& [title, count] : missing) EXPECT_EQ(count, 0) << title;
}

TEST_F(StreamingBatchesTest, ThreadsDoNotChangeABatch) {
  options_.loss.sampling = v1::NEGATIVE_SAMPLING_UNIFORM;
  const auto batches = Epoch(1);
  EXPECT_EQ(batches.size(), (kPairs + 15) / 16u);
  options_.threads = 16;
  EXPECT_TRUE(Epoch(1) == batches);
  EXPECT_FALSE(Epoch(2) == batches);
}

TEST_F(StreamingBatchesTest, MistypesQueriesAlikeInAnyThread) {
  std::string lines;
  for (int i = 0; i < kPairs; ++i)
    lines += "query\tt" + std::to_string(i) + "\n";
  options_.data.train_files = {dir_.Write("words.tsv", lines)};
  const auto distinct_queries = [](const std::vector<Batch>& batches) {
    TextId most = 0;
    for (const Batch& batch : batches) {
      most = std::max(most, *std::ranges::max_element(batch.queries));
    }
    return most + 1;
  };
  EXPECT_EQ(distinct_queries(Epoch(1)), 1u);
  options_.loss.query_typos = 0.5;
  const auto batches = Epoch(1);
  EXPECT_GT(distinct_queries(batches), 4u);
  options_.threads = 16;
  EXPECT_TRUE(Epoch(1) == batches);
}

TEST_F(StreamingBatchesTest, MasksTheClickedTitlesOfTheBatch) {
  options_.batch_size = 512;
  ASSERT_OK_AND_ASSIGN(const TrainingData data, Load());
  ASSERT_NE(data.stream, nullptr);
  ASSERT_OK_AND_ASSIGN(const auto source,
                       StreamingBatches::Create(options_, data));
  ASSERT_THAT(source->BeginEpoch(1, 0), IsOk());
  ASSERT_OK_AND_ASSIGN(const MiniBatch* batch, source->Next());
  std::size_t most = 0;
  for (int i = 0; i < batch->num_pairs(); ++i) {
    std::vector<std::uint32_t> same_query;
    for (int k = 0; k < batch->num_pairs(); ++k) {
      if (batch->queries[k] == batch->queries[i]) same_query.push_back(k);
    }
    EXPECT_THAT(batch->MaskedFor(i), ElementsAreArray(same_query));
    most = std::max(most, same_query.size());
  }
  EXPECT_GT(most, 1u);
}

TEST_F(StreamingBatchesTest, GoesOnAtAnyBatch) {
  const auto batches = Epoch(2);
  for (const std::int64_t first : {1, 100, static_cast<int>(batches.size())}) {
    EXPECT_TRUE(Epoch(2, first) ==
                std::vector(batches.begin() + first, batches.end()));
  }
}

TEST_F(StreamingBatchesTest, EqualTextsOfABatchHaveEqualNumbers) {
  options_.batch_size = 512;
  options_.data.memory_limit = 8'000'000;
  // 512 of 3,000 pairs: some queries come two or three times.
  ASSERT_OK_AND_ASSIGN(TrainingData data, [&]() {
    EXPECT_THAT(ResolveOptions(options_), IsOk());
    BadLines bad_lines(100);
    return LoadStreamedData(options_, bad_lines);
  }());
  ASSERT_OK_AND_ASSIGN(const auto source,
                       StreamingBatches::Create(options_, data));
  ASSERT_THAT(source->BeginEpoch(1, 0), IsOk());
  ASSERT_OK_AND_ASSIGN(const MiniBatch* batch, source->Next());
  std::vector<TextId> queries = batch->queries;
  std::sort(queries.begin(), queries.end());
  queries.erase(std::unique(queries.begin(), queries.end()), queries.end());
  EXPECT_LT(queries.size(), batch->queries.size());
}

TEST_F(StreamingBatchesTest, HeldOutQueriesAreNotTrainedOn) {
  options_.data.valid_fraction = 0.1;
  ASSERT_OK_AND_ASSIGN(const TrainingData data, Load());
  ASSERT_FALSE(data.valid_pairs.empty());
  const std::int64_t num_valid =
      static_cast<std::int64_t>(data.valid_pairs.size());
  EXPECT_LE(num_valid * 2 * KeptTextBytes(2),
            ShareForCounting(options_).valid_pair_bytes);
  EXPECT_EQ(data.stream->num_pairs + num_valid, kPairs);
  ASSERT_OK_AND_ASSIGN(PairShuffler shuffler,
                       PairShuffler::Create(options_, data));
  shuffler.BeginEpoch(1);
  ClickPair pair;
  for (std::int64_t i = 0; i < data.stream->num_pairs; ++i) {
    ASSERT_THAT(shuffler.Next(pair), IsOk());
    for (const TextPair& held_out : data.valid_pairs) {
      ASSERT_NE(data.stream->texts.text(held_out.query), pair.query);
    }
  }
}

TEST_F(StreamingBatchesTest, ClicksOfHeldOutQueriesDoNotChangeTheOrder) {
  options_.loss.clicks = v1::CLICK_USE_REPEAT;
  options_.data.valid_fraction = 0.1;
  options_.data.memory_limit = 8'000'000;  // all lines are one block
  ASSERT_THAT(ResolveOptions(options_), IsOk());
  BadLines bad_lines(100);
  std::string with, without;
  ASSERT_OK_AND_ASSIGN(const TrainingData data,
                       LoadStreamedData(options_, bad_lines));
  const TextHash hash(options_.seed);
  for (int i = 0; i < kPairs; ++i) {
    const std::string query = "q" + std::to_string(i / 3);
    const std::string line = query + "\tt" + std::to_string(i) + "\t2\n";
    with += line;
    if (hash(query) >= data.stream->held_out_below) without += line;
  }
  ASSERT_LT(without.size(), with.size());
  const auto order = [&](const std::string& lines) {
    options_.data.train_files = {dir_.Write("clicks.tsv", lines)};
    auto shuffler = PairShuffler::Create(options_, data);
    EXPECT_THAT(shuffler, IsOk());
    shuffler->BeginEpoch(1);
    std::vector<std::string> titles;
    ClickPair pair;
    while (shuffler->Next(pair).ok()) titles.push_back(pair.title);
    return titles;
  };
  EXPECT_EQ(order(with), order(without));
}

TEST_F(StreamingBatchesTest, FewerPairsThanCountedAreFoundOut) {
  ASSERT_OK_AND_ASSIGN(const TrainingData data, Load());
  ASSERT_OK_AND_ASSIGN(const auto source,
                       StreamingBatches::Create(options_, data));
  std::ofstream(options_.data.train_files[0]) << "q\tt\n";
  ASSERT_THAT(source->BeginEpoch(1, 0), IsOk());
  EXPECT_THAT(source->Next(), StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace
}  // namespace semrank
