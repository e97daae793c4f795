// What a training step costs: the papers' networks (letter trigrams, 300, 300,
// 128; CLSM: windows of 3 words, 300, 128), separate towers, mini-batches of
// 1,024 pairs of a query of 3 and a title of 8 words.
//   items    pairs
//   time     wall clock; the arguments are threads, negatives (0 = all)
#include <benchmark/benchmark.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "model/text/vocabulary_builder.h"
#include "model/train/batches/mini_batch.h"
#include "model/train/batches/negative_sampler.h"
#include "model/train/towers/training_kernels.h"
#include "model/train/towers/two_tower_trainer.h"

namespace semrank {
namespace {

constexpr int kPairs = 16384;
constexpr int kWords = 20000;

// Word w is about w times rarer than the first, as in natural language.
std::string RandomWord(Random& random) {
  const float exponent = random.Between(0, std::log(float{kWords}));
  Random letters(static_cast<std::uint64_t>(std::exp(exponent)),
                 RandomPurpose::kPairOrder);
  std::string word;
  for (std::uint32_t i = 3 + letters.Below(8); i > 0; --i) {
    // Some letters are more frequent than others.
    word += static_cast<char>('a' + letters.Below(1 + letters.Below(26)));
  }
  return word;
}

std::string RandomText(int num_words, Random& random) {
  std::string text;
  for (int w = 0; w < num_words; ++w) text += " " + RandomWord(random);
  return text.substr(1);
}

struct Corpus {
  std::vector<TextPair> pairs;
  std::vector<TextId> titles;
  std::unique_ptr<TextBags> bags;
  int num_features = 0;
};

Corpus MakeCorpus(TextForm form) {
  Random random(1, RandomPurpose::kNegatives);
  TextInterner texts;
  Corpus corpus;
  VocabularyBuilder builder;
  for (int i = 0; i < kPairs; ++i) {
    const TextId query = texts.Intern(RandomText(3, random));
    const TextId title = texts.Intern(RandomText(8, random));
    corpus.pairs.push_back({query, title});
    corpus.titles.push_back(title);
    builder.AddText(texts.text(query));
    builder.AddText(texts.text(title));
  }
  builder.AddText(kPaddingWord);
  auto ngrams = NgramVocabulary::FromList(3, builder.LetterNgrams(3, 0, 1));
  auto featurizer = Featurizer::Create(*std::move(ngrams), std::nullopt);
  corpus.num_features = featurizer->num_features();
  corpus.bags = std::make_unique<TextBags>(texts, *featurizer, form);
  return corpus;
}

const Corpus& GetCorpus(bool clsm) {
  static const auto* const bags = new Corpus(MakeCorpus(TextForm::kBags));
  static const auto* const words =
      new Corpus(MakeCorpus(TextForm::kWordSequences));
  return clsm ? *words : *bags;
}

void RunSteps(TrainOptions options, benchmark::State& state) {
  const Corpus& corpus = GetCorpus(options.tower.clsm_window > 0);
  options.tower.shared = false;
  options.tower.activation = v1::ACTIVATION_TANH;
  options.loss.negatives = static_cast<int>(state.range(1));
  ThreadPool pool(static_cast<int>(state.range(0)));
  TwoTowerTrainer trainer(
      InitialTwoTowerWeights(options.tower, corpus.num_features, 1), options,
      pool);
  NegativeSampler sampler(options.loss, corpus.titles);
  const BatchPlan plan(kPairs, options.batch_size);
  const std::span<const TextPair> pairs = corpus.pairs;
  MiniBatch batch;
  batch.bags = corpus.bags.get();
  std::uint64_t step = 0;
  for (auto _ : state) {
    Random random(1, RandomPurpose::kNegatives, step);
    sampler.Sample(plan.Batch(pairs, step++ % plan.num_batches()), random,
                   batch);
    const auto loss =
        trainer.Step(batch, {.learning_rate = options.optimizer.learning_rate});
    if (!loss.ok() || !std::isfinite(*loss)) {
      state.SkipWithError("the step failed");
      return;
    }
  }
  state.SetItemsProcessed(state.iterations() * options.batch_size);
}

TrainOptions Options(v1::NegativeSampling sampling, v1::Optimizer optimizer) {
  TrainOptions options;
  options.tower.kind = v1::TOWER_KIND_DSSM;
  options.tower.embedding_dim = 128;
  options.loss.gamma = kManyQueriesGamma;
  options.loss.logq = 0;
  options.loss.sampling = sampling;
  options.optimizer.kind = optimizer;
  return options;
}

void BM_Step_InBatchSgd(benchmark::State& state) {
  RunSteps(Options(v1::NEGATIVE_SAMPLING_IN_BATCH, v1::OPTIMIZER_SGD), state);
}
BENCHMARK(BM_Step_InBatchSgd)
    ->ArgsProduct({{1, 2}, {4, 50, 0}})
    ->MeasureProcessCPUTime()
    ->UseRealTime();

void BM_Step_Clsm(benchmark::State& state) {
  TrainOptions options =
      Options(v1::NEGATIVE_SAMPLING_IN_BATCH, v1::OPTIMIZER_SGD);
  options.tower.kind = v1::TOWER_KIND_CLSM;
  options.tower.clsm_window = 3;
  options.tower.hidden_dims = {300};
  RunSteps(options, state);
}
BENCHMARK(BM_Step_Clsm)
    ->ArgsProduct({{1, 2}, {4, 50}})
    ->MeasureProcessCPUTime()
    ->UseRealTime();

void BM_Step_InBatchAdam(benchmark::State& state) {
  RunSteps(Options(v1::NEGATIVE_SAMPLING_IN_BATCH, v1::OPTIMIZER_ADAM), state);
}
BENCHMARK(BM_Step_InBatchAdam)
    ->ArgsProduct({{1, 2}, {4, 0}})
    ->MeasureProcessCPUTime()
    ->UseRealTime();

void BM_Step_UniformSgd(benchmark::State& state) {
  RunSteps(Options(v1::NEGATIVE_SAMPLING_UNIFORM, v1::OPTIMIZER_SGD), state);
}
BENCHMARK(BM_Step_UniformSgd)
    ->ArgsProduct({{1, 2}, {4}})
    ->MeasureProcessCPUTime()
    ->UseRealTime();

// Turns 1,023 logits, those of one query of a batch of 1,024, into
// probabilities.
void BM_Softmax_Row(benchmark::State& state) {
  std::vector<float> logits(1023), row;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    logits[i] = 20 * std::sin(static_cast<float>(i));
  }
  for (auto _ : state) {
    row = logits;
    benchmark::DoNotOptimize(SoftmaxNegatives(1.0f, row));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Softmax_Row);

}  // namespace
}  // namespace semrank
