#include "model/eval/rankers/model_ranker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/nn/lexical_query.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

constexpr int kFeatures = 64;
constexpr int kDim = 7;

// Feature i counts towards component (i + shift) % kDim; then unit length.
class ShiftTower : public Tower {
 public:
  explicit ShiftTower(int shift) : shift_(shift) {}

  int num_features() const override { return kFeatures; }
  int embedding_dim() const override { return kDim; }
  void Embed(const TowerInput& input, TowerScratch&,
             float* vectors) const override {
    const BagBatch& batch = input.bags;
    for (int t = 0; t < batch.num_texts(); ++t, vectors += kDim) {
      std::fill_n(vectors, kDim, 0.0f);
      float squares = 0;
      for (std::uint32_t i = batch.offsets[t]; i < batch.offsets[t + 1]; ++i) {
        vectors[(batch.indices[i] + shift_) % kDim] += batch.counts[i];
      }
      for (int k = 0; k < kDim; ++k) squares += vectors[k] * vectors[k];
      if (squares == 0) continue;
      for (int k = 0; k < kDim; ++k) vectors[k] /= std::sqrt(squares);
    }
  }

 private:
  int shift_;
};

std::shared_ptr<const TwoTowerModel> MakeModel(TermScorers words = {}) {
  auto ngrams = NgramVocabulary::Hashed(3, kFeatures);
  auto featurizer = Featurizer::Create(*std::move(ngrams), std::nullopt);
  return *TwoTowerModel::Create(
      {}, {}, *std::move(featurizer), std::make_shared<ShiftTower>(0),
      std::make_shared<ShiftTower>(1), std::move(words));
}

std::shared_ptr<const LexicalPart> MakeLexicalPart() {
  auto idf = std::make_shared<std::vector<float>>(kMaxLexicalBuckets, 1.5f);
  const float* const data = idf->data();
  return *LexicalPart::Create({.idf = data, .weight = 0.25}, std::move(idf));
}

// More than two slices of documents; document 3 is empty.
std::vector<std::string> MakeDocuments() {
  std::vector<std::string> documents;
  for (int d = 0; d < 600; ++d) {
    documents.push_back(d == 3 ? "" : "word" + std::to_string(d * d));
  }
  return documents;
}

std::vector<float> AllScores(const Ranker& ranker,
                             const std::vector<std::string_view>& queries) {
  std::vector<float> scores(queries.size() * ranker.num_documents());
  ranker.ScoreAll(queries, scores.data());
  return scores;
}

TEST(ModelRankerTest, ScoreIsTheCosineOfTheVectors) {
  const auto model = MakeModel();
  const std::vector<std::string> documents = MakeDocuments();
  ThreadPool pool(1);
  const ModelRanker ranker(model, documents, pool);
  EXPECT_EQ(ranker.name(), "model");
  const std::string_view query = "some words";
  const std::vector<float> scores = AllScores(ranker, {query});
  EmbedScratch scratch;
  std::vector<float> q(kDim), v(kDim);
  model->EmbedTexts(Side::kQuery, std::span(&query, 1), scratch, q.data());
  for (std::size_t d = 0; d < documents.size(); ++d) {
    const std::string_view text = documents[d];
    model->EmbedTexts(Side::kDocument, std::span(&text, 1), scratch, v.data());
    double cosine = 0;
    for (int k = 0; k < kDim; ++k) cosine += double{q[k]} * v[k];
    ASSERT_NEAR(scores[d], cosine, 1e-6) << d;
  }
  EXPECT_EQ(scores[3], 0);
}

TEST(ModelRankerTest, LexicalPartIsCombinedWithTheCosineOfTheTowers) {
  const auto model = MakeModel({.lexical = MakeLexicalPart()});
  const std::vector<std::string> documents = MakeDocuments();
  ThreadPool pool(1);
  const ModelRanker ranker(model, documents, pool);
  const ModelRanker semantic(model, documents, pool, ModelParts::kSemantic);
  const ModelRanker lexical(model, documents, pool, ModelParts::kLexical);
  const std::string_view query = "word 3025";
  const std::vector<float> scores = AllScores(ranker, {query});
  const std::vector<float> dense = AllScores(semantic, {query});
  const std::vector<float> sparse = AllScores(lexical, {query});
  LexicalBatch entries;
  model->lexical()->AppendText(query, entries);
  LexicalQuery prepared;
  prepared.Prepare(entries[0]);
  for (std::size_t d = 0; d < documents.size(); ++d) {
    entries.Clear();
    model->lexical()->AppendText(documents[d], entries);
    ASSERT_EQ(sparse[d], prepared.Cosine(entries[0])) << d;
    ASSERT_EQ(scores[d],
              model->lexical()->Combine(ModelParts::kBoth, dense[d], sparse[d]))
        << d;
  }
  EXPECT_GT(sparse[55], 0.3);  // word3025
  std::vector<float> some(2);
  ranker.ScoreSome(query, std::vector<std::uint32_t>{55, 3}, some);
  EXPECT_EQ(some[0], scores[55]);
  EXPECT_EQ(some[1], scores[3]);
}

TEST(ModelRankerTest, OtherQueriesAndThreadsDoNotChangeAScore) {
  const auto model = MakeModel();
  ThreadPool one(1), three(3);
  const ModelRanker alone(model, MakeDocuments(), one);
  const ModelRanker pooled(model, MakeDocuments(), three);
  const std::vector<float> together =
      AllScores(pooled, {"first query", "", "another one"});
  std::vector<float> each;
  for (const std::string_view query : {"first query", "", "another one"}) {
    const std::vector<float> scores = AllScores(alone, {query});
    each.insert(each.end(), scores.begin(), scores.end());
  }
  EXPECT_EQ(together, each);
}

TEST(ModelRankerTest, ScoreSomeGivesTheSameBits) {
  ThreadPool pool(2);
  const ModelRanker ranker(MakeModel(), MakeDocuments(), pool);
  const std::vector<float> all = AllScores(ranker, {"first query"});
  const std::vector<std::uint32_t> documents = {599, 3, 0, 256, 255};
  std::vector<float> some(documents.size());
  ranker.ScoreSome("first query", documents, some);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    EXPECT_EQ(some[i], all[documents[i]]);
  }
  ranker.ScoreSome("first query", {}, {});
}

}  // namespace
}  // namespace semrank
