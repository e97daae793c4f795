#include "model/nn/sparse_scorer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "model/nn/ssi_tower.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;

const std::vector<float> kIdf = {1, 2, 0.5f, 1, 3};
const std::vector<float> kValues(25, 0.5f);

// Texts by their words, each once.
BagBatch Bags(const std::vector<std::vector<std::uint32_t>>& texts) {
  BagBatch bags;
  for (const auto& words : texts) {
    for (const std::uint32_t word : words) {
      bags.indices.push_back(word);
      bags.counts.push_back(1);
    }
    bags.offsets.push_back(static_cast<std::uint32_t>(bags.indices.size()));
  }
  return bags;
}

SparseWeights IdentityWeights() { return {.num_words = 5, .idf = kIdf.data()}; }

TEST(PairBucketTest, ValuesNeverChange) {
  // (s x 2654435761 + t) mod H, by hand: models on disk depend on them.
  EXPECT_EQ(PairBucket(0, 0, 1'000'000), 0u);
  EXPECT_EQ(PairBucket(0, 7, 1'000'000), 7u);
  EXPECT_EQ(PairBucket(1, 0, 1'000'000), 435'761u);
  EXPECT_EQ(PairBucket(1, 999'999, 1'000'000), 435'760u);
  EXPECT_EQ(PairBucket(12'345, 678, 3'000'000), 470'223u);
  EXPECT_EQ(PairBucket(67'108'863, 67'108'863, 1u << 28), 164'136'526u);
}

TEST(WeighTfIdfTest, ScalesCountTimesIdfToLengthOne) {
  BagBatch bags = Bags({{}, {1, 4}, {2}});
  bags.counts[0] = 2;
  WeighTfIdf(kIdf.data(), 0, 3, bags);
  // (2 x 2, 1 x 3) / 5.
  EXPECT_THAT(bags.counts,
              ElementsAre(FloatEq(0.8f), FloatEq(0.6f), FloatEq(1)));
}

TEST(WeighTfIdfTest, WordsOfNoWeightStayZero) {
  BagBatch bags = Bags({{0, 1}});
  const std::vector<float> zeros(5);
  WeighTfIdf(zeros.data(), 0, 1, bags);
  EXPECT_THAT(bags.counts, ElementsAre(0, 0));
}

TEST(SsiRowsTest, RareWordsHaveNoRowOrThoseOfOthers) {
  const BagBatch words = Bags({{0, 1, 3}, {}, {4}});
  BagBatch rows;
  SsiRows{.num_words = 5, .num_rows = 2}.AppendRows(words, rows);
  EXPECT_THAT(rows.offsets, ElementsAre(0, 2, 2, 2));
  EXPECT_THAT(rows.indices, ElementsAre(0, 1));

  // Words 2, 3 and 4.
  const std::vector<float> correlated = {-1, -1, 1, 0, 1, -1};
  rows.Clear();
  SsiRows{.num_words = 5,
          .num_rows = 2,
          .top_k = 2,
          .correlated = correlated.data()}
      .AppendRows(words, rows);
  EXPECT_THAT(rows.offsets, ElementsAre(0, 4, 4, 5));
  EXPECT_THAT(rows.indices, ElementsAre(0, 1, 1, 0, 1));
  EXPECT_THAT(rows.counts, ElementsAre(1, 1, 0.5f, 0.5f, 0.5f));
}

// The score of words of one query and one document, which have an idf of 1.
float ScoreOf(const SsiRows& rows, const std::vector<float>& u,
              const std::vector<float>& v, std::uint32_t query_word,
              std::uint32_t document_word) {
  const std::vector<float> ones(5, 1.0f);
  const auto embed = [&](const std::vector<float>& table, std::uint32_t word) {
    const auto tower = SsiTower::Create(
        {.idf = ones.data(), .rows = rows, .dim = 1, .table = table.data()},
        nullptr);
    std::vector<float> vector((*tower)->embedding_dim());
    TowerInput input;
    input.bags = Bags({{word}});
    TowerScratch scratch;
    (*tower)->Embed(input, scratch, vector.data());
    return vector;
  };
  const std::vector<float> q = embed(u, query_word);
  const std::vector<float> d = embed(v, document_word);
  float sum = 0;
  for (std::size_t i = 0; i < q.size(); ++i) sum += q[i] * d[i];
  return sum;
}

// Words 0 and 1 are frequent. S(0) = 0, 1; S(1) = 1, none; S(2) = 1, 0.
const std::vector<float> kCompanions = {0, 1, 1, -1, 1, 0};

TEST(SsiRowsTest, EquationSixPairsWordsOfTheSameRank) {
  const SsiRows same_rank = {.num_words = 3,
                             .num_rows = 2,
                             .top_k = 2,
                             .correlated = kCompanions.data(),
                             .same_rank = true};
  const std::vector<float> u = {1, 2}, v = {3, 5};
  // 1/2 (u(1) v(0) + u(0) v(1)).
  EXPECT_FLOAT_EQ(ScoreOf(same_rank, u, v, 2, 0), 5.5f);
  // 1/2 (u(1) v(1)): word 1 has no second.
  EXPECT_FLOAT_EQ(ScoreOf(same_rank, u, v, 2, 1), 5);
  // 1/2 (u(0) v(0) + u(1) v(1)).
  EXPECT_FLOAT_EQ(ScoreOf(same_rank, u, v, 0, 0), 6.5f);
  // Each with each: the mean of u(1) and u(0), times v(0).
  const SsiRows all = {
      .num_words = 3, .num_rows = 2, .top_k = 2, .correlated = &kCompanions[4]};
  EXPECT_FLOAT_EQ(ScoreOf(all, u, v, 2, 0), 4.5f);
}

TEST(SsiRowsTest, MixedPartsAddUpByTheirFactor) {
  const float logit = std::log(3.0f);  // a = 3/4
  SsiRows mixed = {.num_words = 3,
                   .num_rows = 4,
                   .top_k = 2,
                   .correlated = &kCompanions[4],
                   .mixing = &logit};
  const std::vector<float> u = {1, 2, 4, 6}, v = {3, 5, 7, 1};
  // Both frequent: 1/4 u(0) v(1) + 3/4 of the same in the second part.
  EXPECT_FLOAT_EQ(ScoreOf(mixed, u, v, 0, 1), 0.25f * 5 + 0.75f * 4);
  // A rare one: of the second part alone, (4 + 6) / 2 x 7.
  EXPECT_FLOAT_EQ(ScoreOf(mixed, u, v, 2, 0), 0.75f * 35);
  mixed.correlated = kCompanions.data();
  mixed.same_rank = true;
  // 1/2 (6 x 7 + 4 x 1).
  EXPECT_FLOAT_EQ(ScoreOf(mixed, u, v, 2, 0), 0.75f * 23);
}

TEST(SparseScorerTest, TheHashKernelAloneHasNoIdentity) {
  const std::vector<float> buckets = {1, 2, 4};
  SparseWeights weights = IdentityWeights();
  weights.pair_weights = buckets.data();
  weights.num_buckets = 3;
  const BagBatch texts = Bags({{1}, {2}});
  const auto score = [&](int query, int title) {
    SparseScorer::Scratch scratch;
    const auto scorer = SparseScorer::Create(weights, nullptr);
    return SparseScorer::PreparedQuery(**scorer, texts, query, scratch)
        .Score(texts, title);
  };
  // (1 x 2654435761 + 1) mod 3 = 2, and (1 x 2654435761 + 2) mod 3 = 0.
  EXPECT_EQ(score(0, 0), 5);
  EXPECT_EQ(score(0, 1), 1);
  weights.adds_identity = false;
  EXPECT_EQ(score(0, 0), 4);
  EXPECT_EQ(score(0, 1), 1);
}

TEST(SparseScorerTest, OneScratchServesOneScorerAfterAnother) {
  const std::vector<float> buckets(7, 0.25f);
  SparseWeights full = IdentityWeights(), hashed = full, diagonal = full;
  full.matrix = diagonal.diagonal = kValues.data();
  hashed.pair_weights = buckets.data();
  hashed.num_buckets = 7;
  SparseScorer::Scratch shared;
  const BagBatch texts = Bags({{0, 2}, {1, 4}, {0, 3, 4}});
  for (const SparseWeights& weights :
       {full, IdentityWeights(), hashed, full, diagonal}) {
    ASSERT_OK_AND_ASSIGN(const auto scorer,
                         SparseScorer::Create(weights, nullptr));
    for (int query = 0; query < 3; ++query) {
      for (int title = 0; title < 3; ++title) {
        SparseScorer::Scratch fresh;
        const float want =
            SparseScorer::PreparedQuery(*scorer, texts, query, fresh)
                .Score(texts, title);
        EXPECT_EQ(SparseScorer::PreparedQuery(*scorer, texts, query, shared)
                      .Score(texts, title),
                  want);
      }
    }
  }
}

TEST(SparseScorerTest, RefusesWeightsThatContradictEachOther) {
  for (const auto spoil : std::vector<void (*)(SparseWeights&)>{
           [](SparseWeights& w) { w.num_words = 0; },
           [](SparseWeights& w) { w.idf = nullptr; },
           [](SparseWeights& w) { w.num_buckets = 3; },
           [](SparseWeights& w) { w.adds_identity = false; },
           [](SparseWeights& w) { w.pair_weights = w.idf; },
           [](SparseWeights& w) { w.matrix = w.diagonal = w.idf; }}) {
    SparseWeights weights = IdentityWeights();
    spoil(weights);
    EXPECT_THAT(SparseScorer::Create(weights, nullptr),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

TEST(SsiTowerTest, RefusesMissingWeights) {
  const SsiRows rows = {.num_words = 5, .num_rows = 2};
  for (const SsiTower::Weights& weights : std::vector<SsiTower::Weights>{
           {.idf = nullptr, .rows = rows, .dim = 3, .table = kValues.data()},
           {.idf = kIdf.data(), .rows = rows, .dim = 3, .table = nullptr},
           {.idf = kIdf.data(), .rows = {}, .dim = 3, .table = kValues.data()},
           {.idf = kIdf.data(),
           .rows = {.num_words = 5, .num_rows = 2, .top_k = 2},
           .dim = 3,
           .table = kValues.data()}}) {
    EXPECT_THAT(SsiTower::Create(weights, nullptr),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

}  // namespace
}  // namespace semrank
