#include "model/nn/int8_layer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/model/nn/random_values.h"

namespace semrank {
namespace {

using ::testing::ElementsAreArray;

struct LayerCase {
  int rows, in, out;
};

class Int8LayerTest : public ::testing::TestWithParam<LayerCase> {
 protected:
  const int rows_ = GetParam().rows, in_ = GetParam().in, out_ = GetParam().out;
  std::vector<float> inputs_ = RandomValues(std::size_t(rows_) * in_, 1);
  std::vector<float> weight_ = RandomValues(std::size_t(in_) * out_, 2);
  std::vector<float> bias_ = RandomValues(out_, 3);

  std::vector<float> Apply() const { return Apply(inputs_); }
  std::vector<float> Apply(const std::vector<float>& inputs) const {
    const Int8Layer layer({weight_.data(), in_, out_, out_, 1}, bias_.data());
    const int rows = static_cast<int>(inputs.size()) / in_;
    std::vector<float> outputs(std::size_t(rows) * out_);
    Int8Scratch scratch;
    layer.Apply(rows, inputs.data(), scratch, outputs.data());
    return outputs;
  }
  float Input(int i, int k) const { return inputs_[i * in_ + k]; }
  float Weight(int k, int j) const { return weight_[k * out_ + j]; }
  double Exact(int i, int j) const {
    double sum = bias_[j];
    for (int k = 0; k < in_; ++k) sum += double{Input(i, k)} * Weight(k, j);
    return sum;
  }
};

TEST_P(Int8LayerTest, WholeNumbersUpTo127AreMultipliedExactly) {
  for (float& value : inputs_) value = std::nearbyint(127 * value);
  for (float& value : weight_) value = std::nearbyint(127 * value);
  // The largest of each row and column, so that all scales are 1.
  for (int i = 0; i < rows_; ++i) inputs_[i * in_ + i % in_] = 127;
  for (int j = 0; j < out_; ++j) weight_[j % in_ * out_ + j] = -127;
  const std::vector<float> outputs = Apply();
  for (int i = 0; i < rows_; ++i) {
    for (int j = 0; j < out_; ++j) {
      ASSERT_EQ(outputs[i * out_ + j], static_cast<float>(Exact(i, j)))
          << i << ", " << j;
    }
  }
}

TEST_P(Int8LayerTest, OtherNumbersLoseAtMostHalfAStepEach) {
  const std::vector<float> outputs = Apply();
  for (int i = 0; i < rows_; ++i) {
    float largest_input = 0;
    for (int k = 0; k < in_; ++k) {
      largest_input = std::max(largest_input, std::abs(Input(i, k)));
    }
    for (int j = 0; j < out_; ++j) {
      float largest_weight = 0;
      for (int k = 0; k < in_; ++k) {
        largest_weight = std::max(largest_weight, std::abs(Weight(k, j)));
      }
      const double input_error = largest_input / 127 / 2;
      const double weight_error = largest_weight / 127 / 2;
      double bound = 1e-5;
      for (int k = 0; k < in_; ++k) {
        bound += input_error * std::abs(Weight(k, j)) +
                 weight_error * std::abs(Input(i, k)) +
                 input_error * weight_error;
      }
      ASSERT_NEAR(outputs[i * out_ + j], Exact(i, j), bound) << i << ", " << j;
    }
  }
}

TEST_P(Int8LayerTest, ARowAloneHasTheSameBits) {
  const std::vector<float> outputs = Apply();
  for (int i = 0; i < rows_; ++i) {
    const auto begin = inputs_.begin() + i * in_;
    EXPECT_THAT(Apply({begin, begin + in_}),
                ElementsAreArray(outputs.data() + i * out_,
                                 static_cast<std::size_t>(out_)));
  }
}

TEST_P(Int8LayerTest, ARowOfZerosGivesTheBias) {
  inputs_.assign(inputs_.size(), 0);
  inputs_.back() = std::numeric_limits<float>::denorm_min();
  const std::vector<float> outputs = Apply();
  for (int i = 0; i < rows_; ++i) {
    EXPECT_THAT(std::vector<float>(outputs.begin() + i * out_,
                                   outputs.begin() + (i + 1) * out_),
                ElementsAreArray(bias_));
  }
}

TEST_P(Int8LayerTest, NanAndInfinityStayInTheirRow) {
  const std::vector<float> before = Apply();
  for (const float value : {std::numeric_limits<float>::quiet_NaN(),
                            -std::numeric_limits<float>::infinity()}) {
    std::vector<float> inputs = inputs_;
    inputs.back() = value;
    const std::vector<float> outputs = Apply(inputs);
    for (std::size_t n = 0; n < outputs.size(); ++n) {
      if (n + out_ >= outputs.size()) {
        EXPECT_FALSE(std::isfinite(outputs[n])) << n;
      } else {
        EXPECT_EQ(outputs[n], before[n]) << n;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Int8LayerTest,
    ::testing::Values(LayerCase{1, 1, 1}, LayerCase{2, 7, 15},
                      LayerCase{3, 17, 16}, LayerCase{5, 34, 65},
                      LayerCase{7, 300, 128}, LayerCase{13, 128, 63}),
    [](const auto& param) {
      return std::to_string(param.param.rows) + "x" +
             std::to_string(param.param.in) + "x" +
             std::to_string(param.param.out);
    });

}  // namespace
}  // namespace semrank
