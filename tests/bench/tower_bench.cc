// Measures a title that is in no cache, in whole and in parts, with the paper's
// 300-300-128 tower; then scoring and ranking. Titles have 8 words of 8 letters
// drawn by Zipf's law, about 65 letter trigrams, like real product titles.
#include <benchmark/benchmark.h>

#include <cmath>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/huge_pages.h"
#include "model/nn/clsm_tower.h"
#include "model/nn/cosine_scorer.h"
#include "model/nn/dssm_tower.h"
#include "model/nn/kernels.h"
#include "model/text/featurizer.h"
#include "model/text/normalizer.h"
#include "model/text/vocabulary_builder.h"
#include "tests/bench/matrix.h"

namespace semrank {
namespace {

constexpr int kHidden = 300;
constexpr int kDim = 128;
constexpr int kLinearDim = 256;
constexpr int kWindow = 3;
constexpr int kNumWords = 20000;
constexpr int kNumTitles = 20000;
constexpr int kWordsPerTitle = 8;

// The weights lie on huge pages, like those of a loaded model.
HugePageVector<float> RandomValues(std::size_t count, float scale) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-scale, scale);
  HugePageVector<float> values(count);
  for (float& value : values) value = uniform(random);
  return values;
}

// Consonants and vowels alternate, so trigrams repeat as in real words.
std::vector<std::string> RandomWords(std::mt19937& random) {
  constexpr std::string_view kConsonants = "tnshrdlcmfpgbvkwz";
  constexpr std::string_view kVowels = "eaoiuy";
  std::vector<std::string> words(kNumWords);
  for (std::string& word : words) {
    const unsigned length = 5 + random() % 7;
    for (unsigned i = 0; i < length; ++i) {
      const std::string_view letters =
          random() % 8 == 0 || i % 2 == 0 ? kConsonants : kVowels;
      const unsigned a = random() % letters.size();
      word += letters[std::min<unsigned>(a, random() % letters.size())];
    }
  }
  return words;
}

std::vector<std::string> RandomTitles() {
  std::mt19937 random(2);
  const std::vector<std::string> words = RandomWords(random);
  std::uniform_real_distribution<double> uniform(0, std::log(kNumWords));
  std::vector<std::string> titles(kNumTitles);
  for (std::string& title : titles) {
    for (int i = 0; i < kWordsPerTitle; ++i) {
      // A rank that is uniform in its logarithm follows Zipf's law.
      const auto rank = static_cast<std::size_t>(std::exp(uniform(random)));
      title.append(i == 0 ? "" : " ").append(words[rank % kNumWords]);
    }
  }
  return titles;
}

// Titles, their vocabulary and a tower over it. All benchmarks share them.
struct Setup {
  Setup()
      : titles(RandomTitles()),
        featurizer(MakeFeaturizer(/*with_bigrams=*/false)),
        bigram_featurizer(MakeFeaturizer(/*with_bigrams=*/true)) {
    const int rows = featurizer.num_features();
    weights = {RandomValues(std::size_t{1} * rows * kHidden, 0.1f),
               RandomValues(kHidden * kHidden, 0.1f),
               RandomValues(kHidden * kDim, 0.1f), RandomValues(kHidden, 0.1f)};
    const float* bias = weights[3].data();
    const std::vector<LayerView> layers = {
        {rows, kHidden, weights[0].data(), bias},
        {kHidden, kHidden, weights[1].data(), bias},
        {kHidden, kDim, weights[2].data(), bias}};
    tower = *DssmTower::Create(layers, Activation::kTanh, nullptr);
    int8_tower = *DssmTower::Create(layers, Activation::kTanh, nullptr,
                                    VectorPrecision::kInt8);
    const int all_rows = bigram_featurizer.num_features();
    linear_weights = RandomValues(std::size_t{1} * all_rows * kLinearDim, 0.1f);
    linear = *DssmTower::Create(
        {{all_rows, kLinearDim, linear_weights.data(), bias}},
        Activation::kLinear, nullptr);
    convolution = RandomValues(std::size_t{kWindow} * rows * kHidden, 0.1f);
    clsm =
        *ClsmTower::Create({{rows * kWindow, kHidden, convolution.data(), bias},
                            {kHidden, kDim, weights[2].data(), bias}},
                           kWindow, nullptr);
  }

  Featurizer MakeFeaturizer(bool with_bigrams) const {
    VocabularyBuilder builder;
    for (const std::string& title : titles) {
      builder.AddText(title);
      if (with_bigrams) builder.AddBigrams(title);
    }
    std::optional<WordVocabulary> bigrams;
    if (with_bigrams) {
      bigrams = *WordVocabulary::FromBigramList(builder.Bigrams(50'000, 1));
    }
    return *Featurizer::Create(
        *NgramVocabulary::FromList(3, builder.LetterNgrams(3, 0, 1)),
        std::nullopt, std::move(bigrams));
  }

  std::vector<std::string> titles;
  Featurizer featurizer;
  Featurizer bigram_featurizer;
  std::vector<HugePageVector<float>> weights;
  std::unique_ptr<DssmTower> tower;
  std::unique_ptr<DssmTower> int8_tower;
  HugePageVector<float> linear_weights;
  std::unique_ptr<DssmTower> linear;
  HugePageVector<float> convolution;
  std::unique_ptr<ClsmTower> clsm;
};

const Setup& TheSetup() {
  static const Setup* const setup = new Setup();
  return *setup;
}

// Returns the next `count` titles, so that no batch finds the rows of the last
// one in the processor's caches.
class TitleCycle {
 public:
  explicit TitleCycle(benchmark::State& state)
      : state_(state), count_(static_cast<std::size_t>(state.range(0))) {}

  // Returns the next texts, normalised.
  std::span<const std::string_view> Normalize() {
    const Setup& setup = TheSetup();
    texts_.resize(count_);
    views_.clear();
    for (std::string& text : texts_) {
      NormalizeText(setup.titles[next_], kNormalizerVersion, text)
          .IgnoreError();
      views_.push_back(text);
      next_ = (next_ + 1) % setup.titles.size();
    }
    return views_;
  }
  void AppendTexts(const Tower& tower, const Featurizer& featurizer,
                   TowerInput& input) {
    const Setup& setup = TheSetup();
    input.Clear();
    for (std::size_t i = 0; i < count_; ++i) {
      NormalizeText(setup.titles[next_], kNormalizerVersion, normalized_)
          .IgnoreError();
      tower.AppendText(featurizer, normalized_, input);
      next_ = (next_ + 1) % setup.titles.size();
    }
  }
  void Report() {
    state_.SetItemsProcessed(state_.iterations() * state_.range(0));
    state_.counters["rows"] = TheSetup().featurizer.num_features();
  }

 private:
  benchmark::State& state_;
  std::size_t count_;
  std::size_t next_ = 0;
  std::string normalized_;
  std::vector<std::string> texts_;
  std::vector<std::string_view> views_;
};

// Normalise, bag, tower: all that a cold title needs.
void RunColdPass(const Tower& tower, const Featurizer& featurizer,
                 benchmark::State& state) {
  TitleCycle titles(state);
  TowerInput input;
  TowerScratch scratch;
  const int dim = tower.embedding_dim();
  std::vector<float> vectors(state.range(0) * dim);
  for (auto _ : state) {
    tower.EmbedTexts(featurizer, titles.Normalize(), input, scratch,
                     vectors.data());
    benchmark::DoNotOptimize(vectors.data());
  }
  const float length = Dot(vectors.data(), vectors.data(), dim);
  if (std::abs(length - 1) > 1e-5f) state.SkipWithError("not a unit vector");
  titles.Report();
}

void BM_ColdPass_Whole(benchmark::State& state) {
  RunColdPass(*TheSetup().tower, TheSetup().featurizer, state);
}

// The tower as the server uses it with --vector_precision=int8.
void BM_ColdPass_Whole_Int8(benchmark::State& state) {
  RunColdPass(*TheSetup().int8_tower, TheSetup().featurizer, state);
}

// One layer of 256 units over letter trigrams and bigrams: the default of
// semrank-train.
void BM_ColdPass_Linear(benchmark::State& state) {
  const Setup& setup = TheSetup();
  RunColdPass(*setup.linear, setup.bigram_featurizer, state);
}

// A CLSM tower with windows of 3 words, and two layers.
void BM_ColdPass_Clsm(benchmark::State& state) {
  RunColdPass(*TheSetup().clsm, TheSetup().featurizer, state);
}

void BM_ColdPass_NormalizeAndBag(benchmark::State& state) {
  TitleCycle titles(state);
  TowerInput input;
  for (auto _ : state) {
    titles.AppendTexts(*TheSetup().tower, TheSetup().featurizer, input);
    benchmark::DoNotOptimize(input.bags.indices.data());
  }
  state.counters["entries"] =
      static_cast<double>(input.bags.indices.size()) / state.range(0);
  titles.Report();
}

// Bags of all titles, and where the next batch of them begins.
struct BagCycle {
  BagCycle() {
    std::string normalized;
    for (const std::string& title : TheSetup().titles) {
      NormalizeText(title, kNormalizerVersion, normalized).IgnoreError();
      TheSetup().featurizer.AppendBag(normalized, bags);
    }
  }
  int Next(int count) {
    if (first + count > bags.num_texts()) first = 0;
    first += count;
    return first - count;
  }
  BagBatch bags;
  int first = 0;
};

void BM_ColdPass_SumBags(benchmark::State& state) {
  BagCycle cycle;
  const int count = static_cast<int>(state.range(0));
  std::vector<float> sums(state.range(0) * kHidden);
  for (auto _ : state) {
    const int first = cycle.Next(count);
    SumBags(cycle.bags, first, first + count, TheSetup().weights[0].data(),
            kHidden, sums.data());
    benchmark::DoNotOptimize(sums.data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void Batches(benchmark::internal::Benchmark* bench) {
  for (const int size : {1, 8, 32, 100, 1024}) bench->Arg(size);
}
BENCHMARK(BM_ColdPass_Whole)->Apply(Batches);
BENCHMARK(BM_ColdPass_Whole_Int8)->Apply(Batches);
BENCHMARK(BM_ColdPass_Linear)->Apply(Batches);
BENCHMARK(BM_ColdPass_Clsm)->Apply(Batches);
BENCHMARK(BM_ColdPass_NormalizeAndBag)->Apply(Batches);
BENCHMARK(BM_ColdPass_SumBags)->Apply(Batches);

void BM_Tanh(benchmark::State& state) {
  const HugePageVector<float> before = RandomValues(state.range(0), 3.0f);
  HugePageVector<float> values = before;
  for (auto _ : state) {
    std::copy(before.begin(), before.end(), values.begin());
    Tanh(values.data(), values.size());
    benchmark::DoNotOptimize(values.data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Tanh)->Arg(300)->Arg(30000);

void BM_NormalizeRows(benchmark::State& state) {
  HugePageVector<float> values = RandomValues(state.range(0) * kDim, 1.0f);
  for (auto _ : state) {
    NormalizeRows(static_cast<int>(state.range(0)), kDim, values.data());
    benchmark::DoNotOptimize(values.data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_NormalizeRows)->Arg(100);

// Eigen aligns its memory to SIMD vectors, like the vector cache.
Matrix RandomVectors(std::int64_t count) {
  return MatrixMap(RandomValues(count * kDim, 1.0f).data(), count, kDim);
}

void BM_Score_Contiguous(benchmark::State& state) {
  const Matrix query = RandomVectors(1);
  const Matrix matrix = RandomVectors(state.range(0));
  std::vector<float> scores(state.range(0));
  for (auto _ : state) {
    ScoreMatrix(query.data(), matrix.data(), kDim, scores);
    benchmark::DoNotOptimize(scores.data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Score_Contiguous)->Arg(100)->Arg(1000)->Arg(100000);

// Scores vectors at random places of a large cache, new ones in each round.
void BM_Score_Scattered(benchmark::State& state) {
  constexpr std::size_t kVectors = 400000;
  static const Matrix matrix = RandomVectors(kVectors);
  std::mt19937 random(3);
  std::vector<const std::byte*> documents(1000000);
  for (auto& d : documents) {
    d = reinterpret_cast<const std::byte*>(matrix.data() +
                                           random() % kVectors * kDim);
  }
  const auto count = static_cast<std::size_t>(state.range(0));
  std::vector<float> scores(count);
  std::size_t first = 0;
  for (auto _ : state) {
    if (first + count > documents.size()) first = 0;
    ScoreDocuments(matrix.data(), {&documents[first], count}, {kDim}, scores);
    benchmark::DoNotOptimize(scores.data());
    first += count;
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Score_Scattered)->Arg(100)->Arg(1000);

void BM_RankScores(benchmark::State& state) {
  const HugePageVector<float> scores = RandomValues(state.range(0), 1.0f);
  std::vector<RankedDocument> ranking;
  for (auto _ : state) {
    RankScores(scores, static_cast<std::uint32_t>(state.range(1)), ranking);
    benchmark::DoNotOptimize(ranking.data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_RankScores)
    ->Args({10, 0})
    ->Args({100, 0})
    ->Args({1000, 0})
    ->Args({1000, 10})
    ->Args({1000000, 10});

}  // namespace
}  // namespace semrank
