#include "model/train/towers/softmax.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace semrank {
namespace {

// Sums and maxima are kept in this many lanes, each in its own fixed order, so
// that the compiler may use vectors without reordering anything.
constexpr std::size_t kLanes = 16;

float Max(std::span<const float> values, float start) {
  float lanes[kLanes];
  std::fill_n(lanes, kLanes, start);
  std::size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) {
      lanes[k] = std::max(lanes[k], values[i + k]);
    }
  }
  for (; i < values.size(); ++i) lanes[0] = std::max(lanes[0], values[i]);
  return *std::max_element(lanes, lanes + kLanes);
}

double Sum(std::span<const float> values) {
  float lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) lanes[k] += values[i + k];
  }
  for (std::size_t k = 0; i + k < values.size(); ++k) lanes[k] += values[i + k];
  double sum = 0;
  for (const float lane : lanes) sum += lane;
  return sum;
}

// e^x = 2^n e^r with n whole and |r| <= ln(2) / 2; e^r by its series to r^7.
inline float Exp(float x) {
  constexpr float kLowest = -87.0f;
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds
  constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  const float clamped = x < kLowest ? kLowest : x;
  const float n = (clamped * 1.44269504f + kRound) - kRound;
  const float r = (clamped - n * kLn2High) - n * kLn2Low;
  float series = 1.0f / 5040;
  series = series * r + 1.0f / 720;
  series = series * r + 1.0f / 120;
  series = series * r + 1.0f / 24;
  series = series * r + 1.0f / 6;
  series = series * r + 0.5f;
  series = series * r + 1.0f;
  series = series * r + 1.0f;
  const float power =
      std::bit_cast<float>((static_cast<std::int32_t>(n) + 127) << 23);
  return x < kLowest ? 0.0f : series * power;
}

}  // namespace

void ExpNonPositive(std::span<float> values) {
  for (float& value : values) value = Exp(value);
}

SoftmaxResult SoftmaxNegatives(float positive_logit,
                               std::span<float> negatives) {
  const float max = Max(negatives, positive_logit);
  for (float& value : negatives) value = Exp(value - max);
  const double negative_sum = Sum(negatives);
  const double total =
      negative_sum + std::exp(static_cast<double>(positive_logit) - max);
  const float scale = static_cast<float>(1 / total);
  for (float& value : negatives) value *= scale;
  return {std::log(total) - (static_cast<double>(positive_logit) - max),
          static_cast<float>(negative_sum / total)};
}

}  // namespace semrank
