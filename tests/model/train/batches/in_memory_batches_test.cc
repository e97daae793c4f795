#include "model/train/batches/in_memory_batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "model/data/text_pairs.h"
#include "model/train/batches/auto_loss_options.h"
#include "tests/model/train/recipe_options.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

TrainingData MakeData(std::vector<TextPair> pairs) {
  TextInterner texts;
  Featurizer featurizer =
      *Featurizer::Create(std::nullopt, *WordVocabulary::FromList({"a"}));
  TextBags bags(texts, featurizer);
  return {std::move(featurizer),
          std::move(bags),
          std::move(pairs),
          {},
          {},
          {},
          {},
          {}};
}

class InMemoryBatchesTest : public ::testing::Test {
 protected:
  // Query i with title 100 + i.
  InMemoryBatchesTest() {
    options_.batch_size = 8;
    for (TextId i = 0; i < 30; ++i) pairs_.push_back({i, 100 + i, i % 3 + 1});
  }

  // Queries of the batches from number `first_batch` on.
  std::vector<std::vector<TextId>> Epoch(int epoch,
                                         std::int64_t first_batch = 0,
                                         bool prepare = false) {
    const TrainingData data = MakeData(pairs_);
    const auto source = InMemoryBatches::Create(options_, data);
    EXPECT_THAT(source, IsOk());
    EXPECT_THAT((*source)->BeginEpoch(epoch, first_batch), IsOk());
    std::vector<std::vector<TextId>> batches;
    for (;;) {
      const auto batch = (*source)->Next();
      EXPECT_THAT(batch, IsOk());
      if (prepare) (*source)->PrepareNext();
      if (!batch.ok() || *batch == nullptr) return batches;
      EXPECT_LE((*batch)->num_pairs(), options_.batch_size);
      batches.push_back((*batch)->queries);
    }
  }

  TrainOptions options_ = PlainOptions();
  std::vector<TextPair> pairs_;
};

TEST_F(InMemoryBatchesTest, AnEpochHasEachPairOnceInAnOrderOfItsOwn) {
  std::vector<TextId> queries;
  for (const auto& batch : Epoch(1)) {
    queries.insert(queries.end(), batch.begin(), batch.end());
  }
  EXPECT_FALSE(std::is_sorted(queries.begin(), queries.end()));
  std::sort(queries.begin(), queries.end());
  for (TextId i = 0; i < 30; ++i) EXPECT_EQ(queries[i], i);
  EXPECT_NE(Epoch(1), Epoch(2));
}

TEST_F(InMemoryBatchesTest, RepeatGivesAPairAsOftenAsItWasClicked) {
  options_.loss.clicks = v1::CLICK_USE_REPEAT;
  std::map<TextId, std::uint32_t> counts;
  for (const auto& batch : Epoch(1)) {
    for (const TextId query : batch) ++counts[query];
  }
  for (const TextPair& pair : pairs_) {
    EXPECT_EQ(counts[pair.query], pair.clicks);
  }
}

TEST_F(InMemoryBatchesTest, WeightLeavesPairsOnceAndWeighsThem) {
  options_.loss.clicks = v1::CLICK_USE_WEIGHT;
  const TrainingData data = MakeData(pairs_);
  ASSERT_OK_AND_ASSIGN(const auto source,
                       InMemoryBatches::Create(options_, data));
  EXPECT_EQ(source->num_pairs(), 30);
  ASSERT_THAT(source->BeginEpoch(1, 0), IsOk());
  ASSERT_OK_AND_ASSIGN(const MiniBatch* batch, source->Next());
  double total = 0;
  for (int i = 0; i < batch->num_pairs(); ++i) {
    EXPECT_EQ(batch->weight(i), batch->queries[i] % 3 + 1);
    total += batch->weight(i);
  }
  EXPECT_EQ(batch->total_weight(), total);
}

TEST_F(InMemoryBatchesTest, PositionsWeighPairsWhateverTheirClicksDo) {
  for (TextPair& pair : pairs_) pair.weight = 2.5f;
  const TrainingData data = MakeData(pairs_);
  const auto first_batch = [&] {
    auto source = InMemoryBatches::Create(options_, data).value();
    EXPECT_THAT(source->BeginEpoch(1, 0), IsOk());
    return **source->Next();
  };
  EXPECT_TRUE(first_batch().weights.empty());
  options_.loss.position_bias = "curve.tsv";
  EXPECT_EQ(first_batch().weight(0), 2.5f);
  options_.loss.clicks = v1::CLICK_USE_WEIGHT;
  const MiniBatch batch = first_batch();
  EXPECT_EQ(batch.weight(0),
            2.5f * static_cast<float>(batch.queries[0] % 3 + 1));
}

TEST_F(InMemoryBatchesTest, LogQCorrectsATitleByTheNumberOfItsPairs) {
  options_.loss.logq = 0.5;
  pairs_.push_back({30, 100});
  pairs_.push_back({31, 100});
  const TrainingData data = MakeData(pairs_);
  ASSERT_OK_AND_ASSIGN(const auto source,
                       InMemoryBatches::Create(options_, data));
  ASSERT_THAT(source->BeginEpoch(1, 0), IsOk());
  for (std::int64_t b = 0; b < source->num_batches(); ++b) {
    ASSERT_OK_AND_ASSIGN(const MiniBatch* batch, source->Next());
    ASSERT_EQ(batch->corrections.size(), batch->titles.size());
    for (int t = 0; t < batch->num_titles(); ++t) {
      const double n = batch->titles[t] == 100 ? 3 : 1;
      EXPECT_FLOAT_EQ(batch->corrections[t], 0.5 * std::log(n));
    }
  }
}

TEST_F(InMemoryBatchesTest, CorrectsByDefaultWhereTitlesArePopular) {
  options_.loss.logq = kAutoLogQ;
  EXPECT_EQ(MeanPairsOfTheSameTitle(options_, pairs_), 0);
  EXPECT_EQ(ChooseLogQ(options_, MakeData(pairs_)), 0);
  // 20 of the pairs have one title: for 2 of 3 pairs, 19 of the 29 others, of
  // which 7 are in a mini-batch.
  for (int i = 0; i < 20; ++i) pairs_[i].title = 100;
  EXPECT_NEAR(MeanPairsOfTheSameTitle(options_, pairs_), 2.0 / 3 * 19 * 7 / 29,
              1e-12);
  EXPECT_EQ(ChooseLogQ(options_, MakeData(pairs_)), kPopularTitlesLogQ);
  options_.loss.logq = 0;
  EXPECT_EQ(ChooseLogQ(options_, MakeData(pairs_)), 0);
}

TEST_F(InMemoryBatchesTest, GammaIsLowerByDefaultWhereQueriesAreFew) {
  options_.loss.gamma = kAutoGamma;
  EXPECT_EQ(ChooseGamma(options_, MakeData(pairs_)), kFewQueriesGamma);
  pairs_.clear();
  for (TextId i = 0; i < kManyQueries; ++i) pairs_.push_back({i, 0});
  EXPECT_EQ(ChooseGamma(options_, MakeData(pairs_)), kManyQueriesGamma);
  // More pairs of the same queries make no difference.
  for (TextPair& pair : pairs_) pair.query /= 2;
  EXPECT_EQ(ChooseGamma(options_, MakeData(pairs_)), kFewQueriesGamma);
  options_.loss.gamma = 20;
  EXPECT_EQ(ChooseGamma(options_, MakeData(pairs_)), 20);
}

TEST_F(InMemoryBatchesTest, MistypesQueriesAnewInEachEpoch) {
  options_.loss.query_typos = 0.5;
  TextInterner texts;
  std::vector<TextPair> pairs;
  for (int i = 0; i < 30; ++i) {
    const TextId query =
        texts.Intern(std::string(1, static_cast<char>('a' + i % 26)) + "word");
    pairs.push_back({query, texts.Intern("title" + std::to_string(i))});
  }
  auto ngrams = NgramVocabulary::Hashed(3, 10000);
  TrainingData data = MakeData(pairs);
  data.featurizer = *Featurizer::Create(*std::move(ngrams), std::nullopt);
  data.bags = TextBags(texts, data.featurizer);
  data.texts = std::make_shared<TextInterner>(std::move(texts));
  ASSERT_OK_AND_ASSIGN(const auto source,
                       InMemoryBatches::Create(options_, data));
  const auto bags_of_epoch = [&](int epoch) {
    std::vector<std::uint32_t> features;
    int num_mistyped = 0;
    EXPECT_THAT(source->BeginEpoch(epoch, 0), IsOk());
    for (std::int64_t b = 0; b < source->num_batches(); ++b) {
      const MiniBatch* batch = *source->Next();
      source->PrepareNext();
      for (const TextId query : batch->queries) {
        num_mistyped += query >= data.bags.num_bags() ? 1 : 0;
      }
      BagBatch bags;
      EXPECT_THAT(batch->bags->Layout(batch->queries, bags), IsOk());
      batch->bags->Fill(batch->queries, 0, batch->num_pairs(), bags);
      features.insert(features.end(), bags.indices.begin(), bags.indices.end());
    }
    EXPECT_NEAR(num_mistyped, 15, 10);
    return features;
  };
  const std::vector<std::uint32_t> first = bags_of_epoch(1);
  EXPECT_NE(bags_of_epoch(2), first);
  EXPECT_EQ(bags_of_epoch(1), first);
}

TEST_F(InMemoryBatchesTest, QueriesWithAccentsComeOnceMoreWithoutThem) {
  options_.loss.clicks = v1::CLICK_USE_REPEAT;
  TrainingData data = MakeData(pairs_);
  data.unaccented = {{3, 200}, {4, 3}};
  ASSERT_OK_AND_ASSIGN(const auto source,
                       InMemoryBatches::Create(options_, data));
  EXPECT_EQ(source->num_pairs(), 60 + 1 + 2);
  ASSERT_THAT(source->BeginEpoch(1, 0), IsOk());
  std::map<std::pair<TextId, TextId>, int> times;
  for (std::int64_t b = 0; b < source->num_batches(); ++b) {
    const MiniBatch* batch = *source->Next();
    for (int i = 0; i < batch->num_pairs(); ++i) {
      ++times[{batch->queries[i], batch->titles[i]}];
    }
  }
  EXPECT_EQ((times[{3, 103}]), 1);
  EXPECT_EQ((times[{200, 103}]), 1);
  // A pair that was clicked twice: its plain query is that of another pair.
  EXPECT_EQ((times[{4, 104}]), 2);
  EXPECT_EQ((times[{3, 104}]), 2);
  EXPECT_EQ((times[{5, 105}]), 3);
}

TEST_F(InMemoryBatchesTest, ClickedTitlesOfAPlainQueryAreMasked) {
  // Both titles were clicked for query 0.
  TrainingData data = MakeData({{0, 100}, {0, 101}});
  data.unaccented = {{0, 7}};
  ASSERT_OK_AND_ASSIGN(const auto source,
                       InMemoryBatches::Create(options_, data));
  ASSERT_THAT(source->BeginEpoch(1, 0), IsOk());
  const MiniBatch* batch = *source->Next();
  ASSERT_EQ(batch->num_pairs(), 4);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(batch->MaskedFor(i).size(), 4u) << i;
}

TEST_F(InMemoryBatchesTest, GoesOnAtAnyBatch) {
  const auto all = Epoch(3);
  ASSERT_EQ(all.size(), 4u);
  for (std::int64_t first = 0; first <= 4; ++first) {
    EXPECT_EQ(Epoch(3, first), std::vector(all.begin() + first, all.end()));
  }
}

TEST_F(InMemoryBatchesTest, PreparingTheNextBatchChangesNone) {
  EXPECT_EQ(Epoch(3, 0, /*prepare=*/true), Epoch(3));
  EXPECT_EQ(Epoch(3, 2, /*prepare=*/true), Epoch(3, 2));
}

TEST_F(InMemoryBatchesTest, ABatchThatWasPreparedIsForgottenWithItsEpoch) {
  const TrainingData data = MakeData(pairs_);
  ASSERT_OK_AND_ASSIGN(const auto source,
                       InMemoryBatches::Create(options_, data));
  ASSERT_THAT(source->BeginEpoch(1, 0), IsOk());
  source->PrepareNext();
  ASSERT_THAT(source->BeginEpoch(2, 1), IsOk());
  ASSERT_OK_AND_ASSIGN(const MiniBatch* batch, source->Next());
  EXPECT_EQ(batch->queries, Epoch(2, 1).front());
}

TEST_F(InMemoryBatchesTest, MoreRepetitionsThanCanBeCountedAreRefused) {
  options_.loss.clicks = v1::CLICK_USE_REPEAT;
  pairs_ = {{0, 100, 4'000'000'000}, {1, 101, 4'000'000'000}};
  const TrainingData data = MakeData(pairs_);
  EXPECT_THAT(InMemoryBatches::Create(options_, data),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("--clicks=weight")));
}

}  // namespace
}  // namespace semrank
