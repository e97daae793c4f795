// The gradient of every kind of SSI weight against finite differences of the
// loss in double precision, and against the paper's own updates.
#include "model/train/ssi/ssi_trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "model/base/thread_pool.h"
#include "model/format/model_config.h"
#include "model/train/batches/negative_sampler.h"
#include "tests/model/train/distributed/thread_communicator.h"
#include "tests/model/train/recipe_options.h"
#include "tests/model/train/ssi/reference_ssi.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

struct SsiCase {
  std::string name;
  SsiOptions ssi;
  v1::NegativeSampling sampling = v1::NEGATIVE_SAMPLING_IN_BATCH;
  int negatives = 0;
  bool weighted = false;
};

class SsiTrainerTest : public ::testing::TestWithParam<SsiCase> {
 protected:
  SsiTrainerTest() : data_(MakeData()), pool_(2) {
    options_.features.kind = v1::FEATURE_KIND_WORDS;
    options_.tower.kind = v1::TOWER_KIND_SSI;
    options_.tower.embedding_dim = kDim;
  }

  static TrainingData MakeData() {
    TextInterner texts;
    for (const std::string& text : kTexts) texts.Intern(text);
    Featurizer featurizer =
        *Featurizer::Create(std::nullopt, *WordVocabulary::FromList(kWords));
    TextBags bags(texts, featurizer);
    return {.featurizer = std::move(featurizer),
            .bags = std::move(bags),
            .train_pairs = {},
            .valid_pairs = {},
            .titles = {7, 8, 9, 10, 11, 12},
            .shown = {},
            .statistics = {},
            .stream = nullptr};
  }

  void UseCase(const SsiCase& c) {
    options_.ssi = c.ssi;
    options_.ssi.init_scale = 0.7;
    options_.loss = {.sampling = c.sampling, .negatives = c.negatives};
    options_.optimizer.kind = v1::OPTIMIZER_SGD;
    options_.optimizer.learning_rate = 1;
    options_.tower.shared = c.ssi.variant == v1::SSI_VARIANT_SYMMETRIC;
    if (!HasSsiVectors(c.ssi.variant)) options_.tower.embedding_dim = 0;
    // A query and a title that stand there twice; the last three, which other
    // batches have, click titles of this one.
    const std::vector<TextPair> log = {{0, 8}, {1, 9},  {2, 9}, {0, 10}, {3, 9},
                                       {4, 7}, {5, 11}, {7, 8}, {6, 12}, {1, 7},
                                       {0, 7}, {3, 10}, {5, 8}};
    for (const TextPair& pair : log) clicked_.insert({pair.query, pair.title});
    const ClickedTitles clicked(log);
    NegativeSampler sampler(options_.loss, data_.titles, nullptr, &clicked);
    Random negatives(1, RandomPurpose::kNegatives);
    sampler.Sample(std::span(log).first(10), negatives, batch_);
    batch_.bags = &data_.bags;
    if (c.weighted) batch_.weights = {1, 3, 1, 7, 2, 1, 20, 1, 4, 1};
  }

  SsiWeights Weights() const {
    SsiWeights weights = InitialSsiWeights(options_, data_);
    // What begins at 0 or 1 would hide mistakes.
    Random random(5, RandomPurpose::kQueryWeights);
    for (float& value : weights.words) value += random.Between(-0.3f, 0.3f);
    for (float& logit : weights.mixing) logit = 0.4f;
    return weights;
  }

  ReferenceSsi Reference() const {
    return ReferenceSsi(Weights(), options_.loss.margin, clicked_);
  }

  Values TensorsAfterStep(int num_threads) {
    return AfterSteps(/*num_steps=*/1, num_threads, SingleProcess());
  }

  // The tensors, and the losses as "losses".
  Values AfterSteps(int num_steps, int num_threads,
                    Communicator& communicator) const {
    ThreadPool pool(num_threads);
    SsiTrainer trainer(Weights(), options_, {pool, communicator});
    Values values;
    int concurrent_calls = 0;
    for (int i = 0; i < num_steps; ++i) {
      const absl::StatusOr<double> loss = trainer.Step(
          batch_,
          {.learning_rate = options_.optimizer.learning_rate,
           .number = i,
           .concurrent_work = [&concurrent_calls] { ++concurrent_calls; }});
      EXPECT_THAT(loss, IsOk());
      values["losses"].push_back(loss.value_or(0));
    }
    EXPECT_EQ(concurrent_calls, num_steps);
    for (const TensorView& tensor : trainer.Weights()) {
      std::int64_t count = 1;
      for (const std::int64_t size : tensor.shape) count *= size;
      values[tensor.name].assign(tensor.data, tensor.data + count);
    }
    return values;
  }

  TrainingData data_;
  ThreadPool pool_;
  TrainOptions options_ = PlainOptions();
  ReferenceSsi::Clicked clicked_;
  MiniBatch batch_;
};

TEST_P(SsiTrainerTest, TheLossIsThePapers) {
  UseCase(GetParam());
  SsiTrainer trainer(Weights(), options_, pool_);
  ASSERT_OK_AND_ASSIGN(const double loss, trainer.Loss(batch_));
  EXPECT_NEAR(loss, Reference().Loss(batch_), 1e-6);
}

TEST_P(SsiTrainerTest, AStepIsTheGradient) {
  UseCase(GetParam());
  ReferenceSsi reference = Reference();
  const Values before = reference.values();
  const Values after = TensorsAfterStep(2);
  constexpr double kStep = 1e-6;
  double largest = 0;
  for (auto& [name, values] : reference.values()) {
    if (name == kIdfTensor || name == kCorrelatedTensor) {
      EXPECT_EQ(after.at(name), before.at(name)) << "is not learned";
      continue;
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double saved = values[i];
      values[i] = saved + kStep;
      const double above = reference.Loss(batch_);
      values[i] = saved - kStep;
      const double below = reference.Loss(batch_);
      values[i] = saved;
      const double want = (above - below) / (2 * kStep);
      // With rate 1, what a step takes away; weights up to 3 in float32.
      EXPECT_NEAR(before.at(name)[i] - after.at(name)[i], want, 2e-6)
          << name << " " << i;
      largest = std::max(largest, std::abs(want));
    }
  }
  EXPECT_GT(largest, 0.01);
}

// To rounding: gradients of V are sums of each process's pairs.
void ExpectNear(const Values& got, const Values& want, double tolerance) {
  for (const auto& [name, values] : want) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_NEAR(got.at(name)[i], values[i], tolerance) << name << " " << i;
    }
  }
}

TEST_P(SsiTrainerTest, SeveralProcessesTakeTheStepsOfOne) {
  UseCase(GetParam());
  struct Run {
    v1::Optimizer optimizer;
    double rate;
    int num_processes;
    double clip_norm = 0;
  };
  // SGD with rate 1 shows the gradient, others also which rows were touched; 13
  // are more than there are pairs.
  for (const Run& run :
       {Run{v1::OPTIMIZER_SGD, 1, 2}, Run{v1::OPTIMIZER_SGD, 1, 13},
        Run{v1::OPTIMIZER_ADAGRAD, 0.01, 3}, Run{v1::OPTIMIZER_ADAM, 0.01, 3},
        Run{v1::OPTIMIZER_SGD, 1, 2, /*clip_norm=*/0.1}}) {
    options_.optimizer.kind = run.optimizer;
    options_.optimizer.learning_rate = run.rate;
    options_.optimizer.gradient_clip_norm = run.clip_norm;
    std::vector<Values> got(run.num_processes);
    RunProcesses(run.num_processes, [&](Communicator& communicator) {
      got[communicator.rank()] = AfterSteps(3, 1, communicator);
    });
    ExpectNear(got[0], AfterSteps(3, 2, SingleProcess()), 1e-5);
    for (const Values& other : got) EXPECT_EQ(other, got[0]);
  }
}

TEST_P(SsiTrainerTest, ThreadsHaveNoInfluence) {
  UseCase(GetParam());
  EXPECT_EQ(TensorsAfterStep(1), TensorsAfterStep(3));
  options_.optimizer.gradient_clip_norm = 0.01;
  EXPECT_EQ(TensorsAfterStep(1), TensorsAfterStep(3));
}

TEST_P(SsiTrainerTest, AClippedStepIsAShorterOneInTheSameDirection) {
  UseCase(GetParam());
  const Values before = Reference().values();
  const Values whole = TensorsAfterStep(2);
  double square = 0;
  for (const auto& [name, values] : before) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      square += std::pow(whole.at(name)[i] - values[i], 2);
    }
  }
  options_.optimizer.gradient_clip_norm = 1.01 * std::sqrt(square);
  EXPECT_EQ(TensorsAfterStep(2), whole);
  options_.optimizer.gradient_clip_norm = 0.25 * std::sqrt(square);
  Values quarter = before;
  for (auto& [name, values] : quarter) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] += 0.25 * (whole.at(name)[i] - values[i]);
    }
  }
  ExpectNear(TensorsAfterStep(2), quarter, 1e-6);
  SsiTrainer trainer(Weights(), options_, pool_);
  ASSERT_THAT(trainer.Step(batch_, {.learning_rate = 1}), IsOk());
  EXPECT_NEAR(trainer.gradient_norm(), std::sqrt(square), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(
    Variants, SsiTrainerTest,
    ::testing::Values(
        SsiCase{"LowRank", {}},
        SsiCase{"LowRankUniform", {}, v1::NEGATIVE_SAMPLING_UNIFORM, 3},
        SsiCase{"LowRankRotations", {}, v1::NEGATIVE_SAMPLING_IN_BATCH, 2},
        SsiCase{"Symmetric", {.variant = v1::SSI_VARIANT_SYMMETRIC}},
        SsiCase{"NoIdentity",
                {.variant = v1::SSI_VARIANT_LOW_RANK_NO_IDENTITY}},
        SsiCase{"Diagonal", {.variant = v1::SSI_VARIANT_DIAGONAL}},
        SsiCase{"Full", {.variant = v1::SSI_VARIANT_FULL}},
        SsiCase{"FullUniform",
                {.variant = v1::SSI_VARIANT_FULL},
                v1::NEGATIVE_SAMPLING_UNIFORM,
                2},
        SsiCase{"Hashed",
                {.variant = v1::SSI_VARIANT_FULL, .pair_hash_buckets = 7}},
        SsiCase{"HashedNoIdentity",
                {.variant = v1::SSI_VARIANT_FULL_NO_IDENTITY,
                 .pair_hash_buckets = 7}},
        SsiCase{"LowRankByClicks",
                {},
                v1::NEGATIVE_SAMPLING_IN_BATCH,
                0,
                /*weighted=*/true},
        SsiCase{"DiagonalUniformByClicks",
                {.variant = v1::SSI_VARIANT_DIAGONAL},
                v1::NEGATIVE_SAMPLING_UNIFORM,
                2,
                /*weighted=*/true},
        SsiCase{"DenseWords", {.dense_words = 3}},
        SsiCase{"Correlated", {.frequent_words = 4, .correlated_top_k = 2}},
        SsiCase{"SymmetricCorrelated",
                {.variant = v1::SSI_VARIANT_SYMMETRIC,
                 .frequent_words = 4,
                 .correlated_top_k = 2}},
        SsiCase{"CorrelatedSameRank",
                {.frequent_words = 4,
                 .correlated_top_k = 3,
                 .correlated_pairing = v1::CORRELATED_PAIRING_SAME_RANK}},
        SsiCase{
            "MixedParts",
            {.frequent_words = 5, .correlated_top_k = 2, .mix_parts = true}},
        SsiCase{"MixedSameRankUniform",
                {.frequent_words = 3,
                 .correlated_top_k = 2,
                 .correlated_pairing = v1::CORRELATED_PAIRING_SAME_RANK,
                 .mix_parts = true},
                v1::NEGATIVE_SAMPLING_UNIFORM,
                3},
        SsiCase{"SymmetricMixedSameRankByClicks",
                {.variant = v1::SSI_VARIANT_SYMMETRIC,
                 .frequent_words = 4,
                 .correlated_top_k = 2,
                 .correlated_pairing = v1::CORRELATED_PAIRING_SAME_RANK,
                 .mix_parts = true},
                v1::NEGATIVE_SAMPLING_IN_BATCH,
                0,
                /*weighted=*/true}),
    [](const auto& c) { return c.param.name; });

// SSI 2.3: U += rate V(d+ - d-) q', V += rate U q (d+ - d-)' when 1 - f(q, d+)
// + f(q, d-) > 0, for one tuple.
TEST_F(SsiTrainerTest, OneTupleMovesUAndVAsInThePaper) {
  UseCase({"", {}, v1::NEGATIVE_SAMPLING_UNIFORM, 1});
  options_.loss.margin = 1;
  const TextId query = 0, clicked = 7, other = 8;
  batch_ = {};
  batch_.bags = &data_.bags;
  batch_.queries = {query};
  batch_.titles = {clicked, other};
  batch_.candidates.indices = {0, 1};
  batch_.candidates.offsets = {0, 2};
  const ReferenceSsi before(Weights(), 1);
  ASSERT_GT(1 - before.Score(query, clicked) + before.Score(query, other), 0);
  const Values after = TensorsAfterStep(1);
  const std::vector<double> q = before.TfIdf(query);
  const std::vector<double> plus = before.TfIdf(clicked);
  const std::vector<double> minus = before.TfIdf(other);
  for (int dim = 0; dim < kDim; ++dim) {
    double v_difference = 0, u_query = 0;
    for (int w = 0; w < kNumWords; ++w) {
      v_difference +=
          before.Column("document.0.weight", w, dim) * (plus[w] - minus[w]);
      u_query += before.Column("query.0.weight", w, dim) * q[w];
    }
    for (int w = 0; w < kNumWords; ++w) {
      EXPECT_NEAR(after.at("query.0.weight")[w * kDim + dim],
                  before.Column("query.0.weight", w, dim) + v_difference * q[w],
                  1e-6);
      EXPECT_NEAR(after.at("document.0.weight")[w * kDim + dim],
                  before.Column("document.0.weight", w, dim) +
                      u_query * (plus[w] - minus[w]),
                  1e-6);
    }
  }
}

TEST_F(SsiTrainerTest, NothingMovesWhereTheMarginHolds) {
  UseCase({"", {}});
  options_.loss.margin = 1e-9;
  // A query beside its own words, against titles without any of them.
  options_.ssi.init_scale = 1e-6;
  batch_ = {};
  batch_.bags = &data_.bags;
  batch_.queries = {5};
  batch_.titles = {11, 9};
  batch_.candidates.indices = {0, 1};
  batch_.candidates.offsets = {0, 2};
  const Values before = ReferenceSsi(Weights(), 1).values();
  Values after = TensorsAfterStep(1);
  after.erase("losses");
  EXPECT_EQ(after, before);
}

TEST_F(SsiTrainerTest, WithOneCorrelatedWordBothPairingsAreOne) {
  UseCase({"",
           {.frequent_words = 4,
            .correlated_top_k = 1,
            .correlated_pairing = v1::CORRELATED_PAIRING_SAME_RANK}});
  Values same_rank = TensorsAfterStep(1);
  options_.ssi.correlated_pairing = v1::CORRELATED_PAIRING_ALL;
  Values all = TensorsAfterStep(1);
  same_rank.erase(kCorrelatedTensor);
  all.erase(kCorrelatedTensor);
  EXPECT_EQ(same_rank, all);
}

TEST_F(SsiTrainerTest, StateRestoresARun) {
  UseCase(
      {"", {.frequent_words = 4, .correlated_top_k = 2, .mix_parts = true}});
  options_.optimizer.kind = v1::OPTIMIZER_ADAM;
  SsiTrainer first(Weights(), options_, pool_);
  SsiTrainer second(Weights(), options_, pool_);
  ASSERT_THAT(first.Step(batch_, {.learning_rate = 0.1}), IsOk());
  const std::vector<StateTensor> from = first.State(), to = second.State();
  ASSERT_EQ(from.size(), to.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::copy(from[i].values.begin(), from[i].values.end(),
              to[i].values.begin());
  }
  second.Restored(1);
  ASSERT_OK_AND_ASSIGN(const double loss,
                       first.Step(batch_, {.learning_rate = 0.1}));
  EXPECT_EQ(*second.Step(batch_, {.learning_rate = 0.1}), loss);
  EXPECT_EQ(*second.Loss(batch_), *first.Loss(batch_));
}

}  // namespace
}  // namespace semrank
