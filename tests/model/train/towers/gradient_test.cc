// Gradients of every kind of parameter against finite differences of the loss
// in double precision.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "model/base/thread_pool.h"
#include "model/train/batches/negative_sampler.h"
#include "model/train/towers/two_tower_trainer.h"
#include "tests/model/train/recipe_options.h"
#include "tests/model/train/towers/reference_dssm.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

constexpr double kGamma = 5;

struct GradientCase {
  std::string name;
  bool shared = false;
  std::vector<int> hidden_dims;
  v1::Activation activation = v1::ACTIVATION_TANH;
  v1::NegativeSampling sampling = v1::NEGATIVE_SAMPLING_IN_BATCH;
  int negatives = 0;
  v1::ClickUse clicks = v1::CLICK_USE_IGNORE;
  int hard_negatives = 0;
  int window = 0;  // of CLSM
  double logq = 0;
};

class GradientTest : public ::testing::TestWithParam<GradientCase> {
 protected:
  // Words are features; "unknown" is none. Some queries and some titles of the
  // batch are equal; text 7 is a query and a title.
  GradientTest() : bags_(MakeBags(GetParam().window)), pool_(2) {
    options_.loss = {.sampling = GetParam().sampling,
                     .negatives = GetParam().negatives,
                     .hard_negatives = GetParam().hard_negatives,
                     .gamma = kGamma,
                     .clicks = GetParam().clicks};
    options_.tower = {.kind = GetParam().window > 0 ? v1::TOWER_KIND_CLSM
                                                    : v1::TOWER_KIND_DSSM,
                      .shared = GetParam().shared,
                      .hidden_dims = GetParam().hidden_dims,
                      .embedding_dim = 5,
                      .activation = GetParam().activation,
                      .clsm_window = GetParam().window};
    options_.optimizer.kind = v1::OPTIMIZER_SGD;
    weights_ = InitialTwoTowerWeights(options_.tower, kWords.size(), 3);
    // Biases begin at 0, which would hide mistakes.
    Random random(5, RandomPurpose::kQueryWeights);
    for (TowerWeights* tower : {&weights_.query, &weights_.document}) {
      for (LayerWeights& layer : tower->layers) {
        for (float& bias : layer.bias) bias = random.Between(-0.3f, 0.3f);
      }
    }
    // The last four, which other batches have, click titles of this one.
    const std::vector<TextPair> log = {
        {0, 8, 1}, {1, 9, 7},  {2, 10, 2}, {0, 11, 3}, {3, 9, 20},
        {4, 7, 1}, {5, 12, 4}, {7, 8, 1},  {6, 13, 1}, {1, 10, 5},
        {0, 7, 1}, {3, 10, 1}, {5, 10, 3}, {1, 12, 1}};
    const std::span<const TextPair> pairs = std::span(log).first(10);
    for (const TextPair& pair : log) clicked_.insert({pair.query, pair.title});
    const ClickedTitles clicked(log);
    const std::vector<TextId> titles = {7, 8, 9, 10, 11, 12, 13};
    // The batch too has 8, 9, 10 and 13; 10 was clicked for query 5, but less
    // than 12.
    const ShownTitles shown({{0, 8, 2, 0},
                             {0, 13, 0, 0},
                             {0, 9, 0, 0},
                             {3, 9, 1, 0},
                             {3, 13, 0, 0},
                             {5, 12, 7, 0},
                             {5, 10, 3, 0},
                             {5, 8, 0, 0},
                             {5, 13, 0, 0}},
                            {}, 14);
    NegativeSampler sampler(options_.loss, titles, &shown, &clicked);
    Random negatives(1, RandomPurpose::kNegatives);
    sampler.Sample(pairs, negatives, batch_);
    batch_.bags = &bags_;
    std::map<TextId, int> counts;
    for (const TextPair& pair : log) ++counts[pair.title];
    for (const auto& [title, n] : counts) log_frequency_[title] = std::log(n);
    if (GetParam().logq == 0) return;
    for (const TextId title : batch_.titles) {
      batch_.corrections.push_back(
          static_cast<float>(GetParam().logq * log_frequency_[title]));
    }
  }

  static TextBags MakeBags(int window) {
    TextInterner texts;
    for (const char* text :
         {"a b", "c", "b b b d", "e f a", "unknown", "h a", "g g", "a c e",
          "a b c", "d", "f f g", "h", "unknown words", "b e h h"}) {
      texts.Intern(text);
    }
    return TextBags(
        texts,
        *Featurizer::Create(std::nullopt, *WordVocabulary::FromList(kWords)),
        window > 0 ? TextForm::kWordSequences : TextForm::kBags);
  }

  ReferenceDssm Reference() const {
    return {.query = ToReference(weights_.query),
            .document = ToReference(weights_.document),
            .window = GetParam().window,
            .tanh_output = GetParam().activation == v1::ACTIVATION_TANH,
            .gamma = kGamma,
            .clicked = clicked_,
            .logq = GetParam().logq,
            .log_frequency = log_frequency_};
  }

  // dloss/dparameter by central differences.
  double Difference(ReferenceDssm& reference, double& parameter) const {
    constexpr double kStep = 1e-5;
    const double saved = parameter;
    parameter = saved + kStep;
    const double above = reference.Loss(bags_, batch_);
    parameter = saved - kStep;
    const double below = reference.Loss(bags_, batch_);
    parameter = saved;
    return (above - below) / (2 * kStep);
  }

  // With SGD and rate 1 the gradient is what a step takes away.
  void ExpectGradient(std::span<const float> before,
                      std::span<const float> after,
                      std::vector<double>& parameters,
                      ReferenceDssm& reference) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const double want = Difference(reference, parameters[i]);
      const double got = static_cast<double>(before[i]) - after[i];
      // Single precision: weights up to 1 lose 6e-8 in the subtraction; the
      // passes lose some units of it relative to gamma times the gradient.
      EXPECT_NEAR(got, want, 1e-6 + 1e-5 * std::abs(want)) << "element " << i;
      largest_ = std::max(largest_, std::abs(want));
    }
  }

  void ExpectGradients(const TowerWeights& before, const TowerWeights& after,
                       ReferenceTower& parameters, ReferenceDssm& reference) {
    for (std::size_t l = 0; l < before.layers.size(); ++l) {
      SCOPED_TRACE(testing::Message() << "layer " << l);
      largest_ = 0;
      ExpectGradient(before.layers[l].weight, after.layers[l].weight,
                     parameters.layers[l].weight, reference);
      EXPECT_GT(largest_, 1e-3) << "weights without gradient test nothing";
      largest_ = 0;
      ExpectGradient(before.layers[l].bias, after.layers[l].bias,
                     parameters.layers[l].bias, reference);
      EXPECT_GT(largest_, 1e-3) << "biases without gradient test nothing";
    }
  }

  inline static const std::vector<std::string> kWords = {
      "a", "b", "c", "d", "e", "f", "g", "h", "<s>"};
  // The trainer's weights, in the shape of the initial ones.
  TwoTowerWeights CopyWeights(const ModelTrainer& trainer) const {
    TwoTowerWeights copy = weights_;
    const std::vector<TensorView> tensors = trainer.Weights();
    auto tensor = tensors.begin();
    for (TowerWeights* tower : {&copy.query, &copy.document}) {
      for (LayerWeights& layer : tower->layers) {
        for (const std::span<float> values :
             {std::span<float>(layer.weight), std::span(layer.bias)}) {
          std::copy_n((tensor++)->data, values.size(), values.data());
        }
      }
    }
    return copy;
  }

  TextBags bags_;
  ThreadPool pool_;
  TrainOptions options_ = PlainOptions();
  TwoTowerWeights weights_;
  std::set<std::pair<TextId, TextId>> clicked_;
  std::map<TextId, double> log_frequency_;
  MiniBatch batch_;
  double rate_ = 1;
  double largest_ = 0;
};

TEST_P(GradientTest, LossAgreesWithDoublePrecision) {
  TwoTowerTrainer trainer(weights_, options_, pool_);
  const double want = Reference().Loss(bags_, batch_);
  ASSERT_OK_AND_ASSIGN(const double loss, trainer.Loss(batch_));
  EXPECT_NEAR(loss, want, 1e-5);
  ASSERT_OK_AND_ASSIGN(const double step_loss,
                       trainer.Step(batch_, {.learning_rate = rate_}));
  EXPECT_EQ(step_loss, loss);
}

// Query 5 has title 10 only as one that did worse.
TEST_P(GradientTest, NoListedNegativeWasClickedForItsQuery) {
  const BagBatch& lists = batch_.candidates;
  for (int i = 0; i < lists.num_texts(); ++i) {
    for (auto c = lists.offsets[i]; c < lists.offsets[i + 1]; ++c) {
      const TextId query = batch_.queries[i];
      const TextId title = batch_.titles[lists.indices[c]];
      const bool own = title == batch_.titles[i];
      if (own || (query == 5 && title == 10)) continue;
      EXPECT_FALSE(clicked_.contains({query, title})) << query << " " << title;
    }
  }
}

TEST_P(GradientTest, OtherWorkIsDoneOnceBesideAStep) {
  TwoTowerTrainer trainer(weights_, options_, pool_);
  int calls = 0;
  const StepContext step = {.learning_rate = rate_,
                            .concurrent_work = [&calls] { ++calls; }};
  ASSERT_THAT(trainer.Step(batch_, step), IsOk());
  EXPECT_EQ(calls, 1);
}

TEST_P(GradientTest, AgreesWithFiniteDifferences) {
  TwoTowerTrainer trainer(weights_, options_, pool_);
  ASSERT_THAT(trainer.Step(batch_, {.learning_rate = rate_}), IsOk());
  const TwoTowerWeights after = CopyWeights(trainer);
  ReferenceDssm reference = Reference();
  {
    SCOPED_TRACE("query tower");
    ExpectGradients(weights_.query, after.query, reference.query, reference);
  }
  SCOPED_TRACE("document tower");
  ExpectGradients(weights_.document, after.document, reference.document,
                  reference);
}

TEST_P(GradientTest, AgreesWithFiniteDifferencesUnderDropout) {
  if (GetParam().hidden_dims.empty()) GTEST_SKIP() << "no hidden units";
  options_.tower.dropout = 0.25;
  const StepContext step = {.learning_rate = 1, .number = 7};
  TwoTowerTrainer trainer(weights_, options_, pool_);
  ReferenceDssm reference = Reference();
  reference.dropout = [&](const HiddenRow& row, int width) {
    std::vector<float> units(width, 1);
    std::vector<std::uint8_t> kept(width);
    Dropout dropout(options_.tower.dropout, options_.seed);
    dropout.SetStep(step.number);
    dropout.Apply(row, units, kept);
    return std::vector<double>(units.begin(), units.end());
  };
  ASSERT_OK_AND_ASSIGN(const double loss, trainer.Step(batch_, step));
  EXPECT_NEAR(loss, reference.Loss(bags_, batch_), 1e-5);
  const std::vector<TensorView> after = trainer.Weights();
  for (std::size_t l = 0; l < weights_.query.layers.size(); ++l) {
    const std::span<const float> before = weights_.query.layers[l].weight;
    const float* now = after[2 * l].data;
    ExpectGradient(before, {now, now + before.size()},
                   reference.query.layers[l].weight, reference);
  }
}

// Adagrad's first step is the rate against the sign of the gradient.
TEST_P(GradientTest, AdagradMovesWhatHasAGradientAndNothingElse) {
  options_.optimizer.kind = v1::OPTIMIZER_ADAGRAD;
  rate_ = 0.125;
  TwoTowerTrainer trainer(weights_, options_, pool_);
  ASSERT_THAT(trainer.Step(batch_, {.learning_rate = rate_}), IsOk());
  const std::span<const float> before = weights_.query.layers[0].weight;
  const float* after = trainer.Weights()[0].data;
  ReferenceDssm reference = Reference();
  for (std::size_t i = 0; i < before.size(); ++i) {
    const double gradient =
        Difference(reference, reference.query.layers[0].weight[i]);
    if (std::abs(gradient) > 1e-3) {
      EXPECT_NEAR(before[i] - after[i], std::copysign(rate_, gradient), 1e-4);
    }
  }
}

TEST_P(GradientTest, StepsLowerTheLoss) {
  options_.optimizer.kind = v1::OPTIMIZER_ADAM;
  rate_ = 0.01;
  TwoTowerTrainer trainer(weights_, options_, pool_);
  ASSERT_OK_AND_ASSIGN(const double before, trainer.Loss(batch_));
  for (int i = 0; i < 20; ++i)
    ASSERT_THAT(trainer.Step(batch_, {.learning_rate = rate_}), IsOk());
  ASSERT_OK_AND_ASSIGN(const double after, trainer.Loss(batch_));
  EXPECT_LT(after, 0.9 * before);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, GradientTest,
    ::testing::Values(GradientCase{"AllTitles", false, {7, 6}},
                      GradientCase{"AllTitlesShared", true, {7, 6}},
                      GradientCase{"AllTitlesWide", false, {20, 33}},
                      GradientCase{"Rotations",
                                   false,
                                   {7, 6},
                                   v1::ACTIVATION_TANH,
                                   v1::NEGATIVE_SAMPLING_IN_BATCH,
                                   3},
                      GradientCase{"RotationsShared",
                                   true,
                                   {7},
                                   v1::ACTIVATION_TANH,
                                   v1::NEGATIVE_SAMPLING_IN_BATCH,
                                   3},
                      GradientCase{"Uniform",
                                   false,
                                   {7, 6},
                                   v1::ACTIVATION_TANH,
                                   v1::NEGATIVE_SAMPLING_UNIFORM,
                                   4},
                      GradientCase{"UniformShared",
                                   true,
                                   {7, 6},
                                   v1::ACTIVATION_TANH,
                                   v1::NEGATIVE_SAMPLING_UNIFORM,
                                   4},
                      GradientCase{
                          "Linear", false, {}, v1::ACTIVATION_IDENTITY},
                      GradientCase{"OneTanhLayerShared",
                                   true,
                                   {},
                                   v1::ACTIVATION_TANH,
                                   v1::NEGATIVE_SAMPLING_UNIFORM,
                                   2},
                      GradientCase{"ClicksAllTitles",
                                   false,
                                   {7, 6},
                                   v1::ACTIVATION_TANH,
                                   v1::NEGATIVE_SAMPLING_IN_BATCH,
                                   0,
                                   v1::CLICK_USE_WEIGHT},
                      GradientCase{"HardBesideAllTitles",
                                   false,
                                   {7, 6},
                                   v1::ACTIVATION_TANH,
                                   v1::NEGATIVE_SAMPLING_IN_BATCH,
                                   0,
                                   v1::CLICK_USE_WEIGHT,
                                   2},
                      GradientCase{"HardBesideRotationsShared",
                                   true,
                                   {7},
                                   v1::ACTIVATION_TANH,
                                   v1::NEGATIVE_SAMPLING_IN_BATCH,
                                   3,
                                   v1::CLICK_USE_IGNORE,
                                   1},
                      GradientCase{"Shown",
                                   false,
                                   {7, 6},
                                   v1::ACTIVATION_TANH,
                                   v1::NEGATIVE_SAMPLING_SHOWN_NOT_CLICKED,
                                   3},
                      GradientCase{.name = "LogQAllTitles",
                                   .hidden_dims = {7, 6},
                                   .hard_negatives = 2,
                                   .logq = 0.5},
                      GradientCase{.name = "LogQRotationsShared",
                                   .shared = true,
                                   .hidden_dims = {7},
                                   .negatives = 3,
                                   .logq = 1},
                      GradientCase{"ClicksUniform",
                                   true,
                                   {7, 6},
                                   v1::ACTIVATION_TANH,
                                   v1::NEGATIVE_SAMPLING_UNIFORM,
                                   3,
                                   v1::CLICK_USE_WEIGHT}),
    [](const auto& tested) { return tested.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Clsm, GradientTest,
    ::testing::Values(
        GradientCase{.name = "OneWord", .hidden_dims = {7, 6}, .window = 1},
        GradientCase{.name = "ThreeWords", .hidden_dims = {20}, .window = 3},
        GradientCase{.name = "ThreeWordsShared",
                     .shared = true,
                     .hidden_dims = {7, 6},
                     .window = 3},
        GradientCase{.name = "WiderThanTextsShared",
                     .shared = true,
                     .hidden_dims = {7},
                     .sampling = v1::NEGATIVE_SAMPLING_UNIFORM,
                     .negatives = 3,
                     .window = 7}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace semrank
