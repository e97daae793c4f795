// Gradients of one pair and its J unclicked titles against the closed forms of
// the papers' appendices, which are computed here from them alone: DSSM eq.
// 11-19 with one tower for both sides, CLSM eq. 8-16 with two.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <span>

#include "model/base/thread_pool.h"
#include "model/train/batches/negative_sampler.h"
#include "model/train/towers/two_tower_trainer.h"
#include "tests/model/train/recipe_options.h"
#include "tests/model/train/towers/reference_dssm.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using Numbers = std::vector<double>;

constexpr double kClosedFormGamma = 6;

double Product(const Numbers& a, const Numbers& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// DSSM eq. 16, CLSM eq. 13: delta of y_Q for R(Q, D).
Numbers OutputDelta(const Numbers& y_q, const Numbers& y_d) {
  const double a = Product(y_q, y_d);
  const double b = 1 / std::sqrt(Product(y_q, y_q));
  const double c = 1 / std::sqrt(Product(y_d, y_d));
  Numbers delta(y_q.size());
  for (std::size_t i = 0; i < delta.size(); ++i) {
    delta[i] = (1 - y_q[i]) * (1 + y_q[i]) *
               (b * c * y_d[i] - a * c * b * b * b * y_q[i]);
  }
  return delta;
}

double CosineOf(const Numbers& a, const Numbers& b) {
  return Product(a, b) / std::sqrt(Product(a, a) * Product(b, b));
}

// Gradients of the weights of a tower, in its shape.
using TowerGradient = std::vector<Numbers>;

TowerGradient ZeroGradient(const ReferenceTower& tower) {
  TowerGradient gradient;
  for (const auto& layer : tower.layers) {
    gradient.emplace_back(layer.weight.size());
  }
  return gradient;
}

// Adds factor x dR(Q, D)/dW for one side, whose output has `delta`: DSSM eq.
// 17, 19; CLSM eq. 12, 14-16, where unit i of layer 0 saw window t(i).
void AddSide(const ReferenceTower& tower, const ReferenceText& text,
             Numbers delta, double factor, TowerGradient& gradient) {
  for (std::size_t l = tower.layers.size(); l-- > 0;) {
    const int in = tower.layers[l].in, out = tower.layers[l].out;
    Numbers below(in);
    for (int i = 0; i < in; ++i) {
      for (int j = 0; j < out; ++j) {
        const std::size_t w = static_cast<std::size_t>(i) * out + j;
        const double x =
            l > 0 ? text.outputs[l - 1][i] : text.windows[text.winners[j]][i];
        gradient[l][w] += factor * x * delta[j];
        below[i] += tower.layers[l].weight[w] * delta[j];
      }
    }
    if (l == 0) return;
    for (int i = 0; i < in; ++i) {
      const double v = text.outputs[l - 1][i];
      below[i] *= (1 + v) * (1 - v);
    }
    delta = below;
  }
}

struct ClosedFormCase {
  std::string name;
  bool shared = false;
  std::vector<int> hidden_dims;
  int window = 0;
};

class ClosedFormTest : public ::testing::TestWithParam<ClosedFormCase> {
 protected:
  ClosedFormTest() : pool_(1), bags_(MakeBags()) {
    options_.tower = {.kind = GetParam().window > 0 ? v1::TOWER_KIND_CLSM
                                                    : v1::TOWER_KIND_DSSM,
                      .shared = GetParam().shared,
                      .hidden_dims = GetParam().hidden_dims,
                      .embedding_dim = 5,
                      .activation = v1::ACTIVATION_TANH,
                      .clsm_window = GetParam().window};
    options_.loss = {.sampling = v1::NEGATIVE_SAMPLING_UNIFORM,
                     .negatives = 4,
                     .gamma = kClosedFormGamma};
    options_.optimizer.kind = v1::OPTIMIZER_SGD;
    weights_ = InitialTwoTowerWeights(options_.tower, kWords.size(), 3);
    const std::vector<TextPair> pairs = {{0, 1}};
    const std::vector<TextId> titles = {1, 2, 3, 4, 5, 6};
    NegativeSampler sampler(options_.loss, titles);
    Random random(1, RandomPurpose::kNegatives);
    sampler.Sample(pairs, random, batch_);
    batch_.bags = &bags_;
  }

  static TextBags MakeBags() {
    TextInterner texts;
    for (const char* text :
         {"a c b", "b d a", "c d", "e f a d", "h a", "g g", "a c e b b"}) {
      texts.Intern(text);
    }
    return TextBags(
        texts,
        *Featurizer::Create(std::nullopt, *WordVocabulary::FromList(kWords)),
        GetParam().window > 0 ? TextForm::kWordSequences : TextForm::kBags);
  }

  ReferenceText Text(const ReferenceTower& tower, TextId id) const {
    return Forward(tower, bags_, id, GetParam().window, /*tanh_output=*/true);
  }

  inline static const std::vector<std::string> kWords = {
      "a", "b", "c", "d", "e", "f", "g", "h", "<s>"};
  ThreadPool pool_;
  TextBags bags_;
  TrainOptions options_ = PlainOptions();
  TwoTowerWeights weights_;
  MiniBatch batch_;
};

TEST_P(ClosedFormTest, StepFollowsTheAppendix) {
  const ReferenceTower query_tower = ToReference(weights_.query);
  const bool shared = weights_.document.layers.empty();
  const ReferenceTower title_tower =
      shared ? query_tower : ToReference(weights_.document);
  const ReferenceText query = Text(query_tower, batch_.queries[0]);
  std::vector<ReferenceText> titles;  // the clicked one, then the others
  for (const std::uint32_t k : batch_.candidates.indices) {
    titles.push_back(Text(title_tower, batch_.titles[k]));
  }
  ASSERT_EQ(titles.size(), 5u);

  // DSSM eq. 11-14, CLSM eq. 8-11.
  const Numbers& y_q = query.outputs.back();
  const double clicked = CosineOf(y_q, titles[0].outputs.back());
  Numbers exponentials;
  double sum = 1;
  for (std::size_t j = 1; j < titles.size(); ++j) {
    const double delta = clicked - CosineOf(y_q, titles[j].outputs.back());
    exponentials.push_back(std::exp(-kClosedFormGamma * delta));
    sum += exponentials.back();
  }
  TowerGradient query_gradient = ZeroGradient(query_tower);
  TowerGradient title_gradient = ZeroGradient(title_tower);
  TowerGradient& of_titles = shared ? query_gradient : title_gradient;
  const auto add = [&](const ReferenceText& title, double factor) {
    const Numbers& y_d = title.outputs.back();
    AddSide(query_tower, query, OutputDelta(y_q, y_d), factor, query_gradient);
    AddSide(title_tower, title, OutputDelta(y_d, y_q), factor, of_titles);
  };
  for (std::size_t j = 1; j < titles.size(); ++j) {
    const double alpha = -kClosedFormGamma * exponentials[j - 1] / sum;
    add(titles[0], alpha);
    add(titles[j], -alpha);
  }

  // With rate 1 and no momentum a step takes the gradient away.
  TwoTowerTrainer trainer(weights_, options_, pool_);
  ASSERT_OK_AND_ASSIGN(const double loss,
                       trainer.Step(batch_, {.learning_rate = 1}));
  EXPECT_NEAR(loss, std::log(sum), 1e-5);
  std::vector<Numbers> want = query_gradient;
  if (!shared) {
    want.insert(want.end(), title_gradient.begin(), title_gradient.end());
  }
  std::vector<std::span<const float>> before;
  for (const TowerWeights* tower : {&weights_.query, &weights_.document}) {
    for (const auto& layer : tower->layers) before.push_back(layer.weight);
  }
  const std::vector<TensorView> after = trainer.Weights();
  ASSERT_EQ(after.size(), 2 * want.size());  // weight and bias of each layer
  for (std::size_t l = 0; l < want.size(); ++l) {
    double largest = 0;
    for (std::size_t i = 0; i < want[l].size(); ++i) {
      const double got =
          static_cast<double>(before[l][i]) - after[2 * l].data[i];
      // As in gradient_test.cc.
      ASSERT_NEAR(got, want[l][i], 1e-6 + 1e-5 * std::abs(want[l][i]))
          << "element " << i << " of layer " << l;
      largest = std::max(largest, std::abs(want[l][i]));
    }
    EXPECT_GT(largest, 1e-3) << "weights without gradient test nothing";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Papers, ClosedFormTest,
    ::testing::Values(ClosedFormCase{"Dssm", true, {7, 6}},
                      ClosedFormCase{"DssmSeparate", false, {7, 6}},
                      ClosedFormCase{"Clsm", false, {9}, 3},
                      ClosedFormCase{"ClsmFive", false, {9}, 5},
                      ClosedFormCase{"ClsmShared", true, {9}, 3}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace semrank
