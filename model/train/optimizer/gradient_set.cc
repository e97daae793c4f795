#include "model/train/optimizer/gradient_set.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace semrank {
namespace {

// The number of floats of one task. It is fixed, so that the partial sums, and
// with them the rounding of the norm, do not depend on the number of threads.
constexpr std::size_t kBlock = 16384;

std::vector<std::span<float>> CutIntoBlocks(const GradientSet& gradients) {
  std::vector<std::span<float>> blocks;
  // A tensor of millions of rows must not be the task of one thread.
  for (const std::span<float> values : gradients.Values()) {
    for (std::size_t i = 0; i < values.size(); i += kBlock) {
      blocks.push_back(values.subspan(i, std::min(kBlock, values.size() - i)));
    }
  }
  return blocks;
}

// Several sums side by side, so that the compiler can use vector registers.
double SumOfSquares(std::span<const float> values) {
  constexpr std::size_t kLanes = 8;
  double lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      // Squares of small gradients would vanish in a float sum of millions of
      // terms.
      const double value = values[i + lane];
      lanes[lane] += value * value;
    }
  }
  double sum = std::accumulate(lanes, lanes + kLanes, 0.0);
  for (; i < values.size(); ++i) {
    sum += static_cast<double>(values[i]) * values[i];
  }
  return sum;
}

}  // namespace

std::vector<std::span<float>> GradientSet::Values() const {
  std::vector<std::span<float>> values = dense;
  for (RowGradients* rows : sparse) values.emplace_back(rows->values);
  return values;
}

double ClipGradients(double limit, const GradientSet& gradients,
                     ThreadPool& pool) {
  const std::vector<std::span<float>> blocks = CutIntoBlocks(gradients);
  const int num_blocks = static_cast<int>(blocks.size());
  std::vector<double> sums(blocks.size());
  pool.ParallelFor(num_blocks,
                   [&](int b, int) { sums[b] = SumOfSquares(blocks[b]); });
  const double norm = std::sqrt(std::accumulate(sums.begin(), sums.end(), 0.0));
  // Dividing by an infinite norm would turn the gradient into zeros and NaN,
  // and hide that training diverges.
  if (!std::isfinite(norm) || norm <= limit) return norm;
  const float factor = static_cast<float>(limit / norm);
  pool.ParallelFor(num_blocks, [&](int b, int) {
    for (float& value : blocks[b]) value *= factor;
  });
  return norm;
}

}  // namespace semrank
