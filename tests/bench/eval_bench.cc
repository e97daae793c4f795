// Measures one query of the evaluator over 65,536 documents of 8 words. Items
// are queries.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "model/eval/metrics/metrics.h"
#include "model/eval/rankers/bm25_ranker.h"
#include "model/eval/rankers/language_model_rankers.h"
#include "model/eval/rankers/model_ranker.h"
#include "model/eval/rankers/tfidf_ranker.h"
#include "model/eval/rankers/translation_rankers.h"

namespace semrank {
namespace {

constexpr int kDocuments = 1 << 16;
constexpr int kVocabulary = 40000;
constexpr int kDim = 128;

// Word w is about w times rarer than the first, as in natural language.
std::string RandomWord(std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(0, std::log(kVocabulary));
  auto number = static_cast<unsigned>(std::exp(uniform(random)));
  std::string word;
  for (number = number * 2654435761u; number > 0; number /= 26) {
    word += static_cast<char>('a' + number % 26);
  }
  return word;
}

std::vector<std::string> RandomTexts(int count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::string> texts(count);
  for (std::string& text : texts) {
    for (int w = 0; w < 8; ++w) text += (w > 0 ? " " : "") + RandomWord(random);
  }
  return texts;
}

const std::vector<std::string>& Documents() {
  static const auto* const documents =
      new std::vector<std::string>(RandomTexts(kDocuments, 1));
  return *documents;
}

// This ranker costs next to nothing, so the benchmark times the products.
class CheapTower : public Tower {
 public:
  int num_features() const override { return 1000; }
  int embedding_dim() const override { return kDim; }
  void Embed(const TowerInput& input, TowerScratch&,
             float* vectors) const override {
    const BagBatch& batch = input.bags;
    std::fill_n(vectors, batch.num_texts() * kDim, 0.0f);
    for (int t = 0; t < batch.num_texts(); ++t) {
      vectors[t * kDim + batch.indices[batch.offsets[t]] % kDim] = 1;
    }
  }
};

std::unique_ptr<Ranker> MakeModelRanker() {
  auto ngrams = NgramVocabulary::Hashed(3, 1000);
  auto featurizer = Featurizer::Create(*std::move(ngrams), std::nullopt);
  const auto tower = std::make_shared<CheapTower>();
  ThreadPool pool(1);
  return std::make_unique<ModelRanker>(
      *TwoTowerModel::Create({}, {}, *std::move(featurizer), tower, tower),
      Documents(), pool);
}

void ScoreQueries(const Ranker& ranker, benchmark::State& state) {
  const auto num_queries = static_cast<int>(state.range(0));
  const std::vector<std::string> texts = RandomTexts(num_queries, 2);
  const std::vector<std::string_view> queries(texts.begin(), texts.end());
  std::vector<float> scores(queries.size() * kDocuments);
  for (auto _ : state) ranker.ScoreAll(queries, scores.data());
  if (*std::max_element(scores.begin(), scores.end()) <= 0) {
    state.SkipWithError("no document was found");
  }
  state.SetItemsProcessed(state.iterations() * num_queries);
}

void BM_ScoreAll_Bm25(benchmark::State& state) {
  static const auto ranker = *CreateBm25Ranker(Documents(), {});
  ScoreQueries(*ranker, state);
}
BENCHMARK(BM_ScoreAll_Bm25)->Arg(16)->Unit(benchmark::kMillisecond);

void BM_ScoreAll_Unigram(benchmark::State& state) {
  static const auto ranker = *CreateUnigramRanker(Documents(), /*mu=*/20);
  ScoreQueries(*ranker, state);
}
BENCHMARK(BM_ScoreAll_Unigram)->Arg(16)->Unit(benchmark::kMillisecond);

void BM_ScoreAll_Dependence(benchmark::State& state) {
  static const auto ranker = *CreateDependenceRanker(Documents(), {}, 20);
  ScoreQueries(*ranker, state);
}
BENCHMARK(BM_ScoreAll_Dependence)->Arg(16)->Unit(benchmark::kMillisecond);

void BM_ScoreAll_QueryExpansion(benchmark::State& state) {
  static const auto ranker = *CreateQueryExpansionRanker(Documents(), {});
  ScoreQueries(*ranker, state);
}
BENCHMARK(BM_ScoreAll_QueryExpansion)->Arg(16)->Unit(benchmark::kMillisecond);

// Pairs each of the first 8,192 titles with a query of half of its words and
// two words of another title.
const TranslationModel& Translations() {
  static const auto model = [] {
    std::vector<ClickPair> pairs(1 << 13);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      pairs[i].title = Documents()[i];
      const std::string& other = Documents()[(i * 7 + 1) % pairs.size()];
      pairs[i].query = pairs[i].title.substr(0, pairs[i].title.size() / 2) +
                       other.substr(0, other.find(' ', other.find(' ') + 1));
    }
    return *LearnTranslations(pairs);
  }();
  return *model;
}

void BM_ScoreAll_WordTranslation(benchmark::State& state) {
  static const auto ranker =
      *CreateTranslationRanker(Translations(), Documents(), {});
  ScoreQueries(*ranker, state);
}
BENCHMARK(BM_ScoreAll_WordTranslation)->Arg(16)->Unit(benchmark::kMillisecond);

void BM_ScoreAll_PhraseTranslation(benchmark::State& state) {
  static const auto ranker =
      *CreatePhraseRanker(Translations(), Documents(), {});
  ScoreQueries(*ranker, state);
}
BENCHMARK(BM_ScoreAll_PhraseTranslation)
    ->Arg(16)
    ->Unit(benchmark::kMillisecond);

void BM_ScoreAll_LetterTfidf(benchmark::State& state) {
  static const auto ranker = *TfidfRanker::OfLetters(Documents());
  ScoreQueries(*ranker, state);
}
BENCHMARK(BM_ScoreAll_LetterTfidf)->Arg(16)->Unit(benchmark::kMillisecond);

void BM_ScoreAll_Model(benchmark::State& state) {
  static const auto ranker = MakeModelRanker();
  ScoreQueries(*ranker, state);
}
BENCHMARK(BM_ScoreAll_Model)
    ->Arg(1)
    ->Arg(16)
    ->Arg(32)
    ->Arg(64)
    ->Unit(benchmark::kMillisecond);

void BM_RankRelevant(benchmark::State& state) {
  std::mt19937 random(3);
  std::vector<float> scores(kDocuments);
  for (float& score : scores) score = static_cast<float>(random() % 100000);
  std::vector<GradedPosition> relevant;
  for (int i = 0; i < state.range(0); ++i) {
    relevant.push_back({static_cast<std::uint32_t>(i * 61), 1});
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(RankRelevant(scores, relevant));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_RankRelevant)->Arg(1)->Arg(30)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace semrank
