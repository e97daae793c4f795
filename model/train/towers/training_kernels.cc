#include "model/train/towers/training_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/train/towers/training_kernels.cc"
#include <hwy/foreach_target.h>  // before all that includes highway.h
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "model/base/random.h"

HWY_BEFORE_NAMESPACE();
namespace semrank::HWY_NAMESPACE {
namespace {

// The number of lanes of sums and maxima. Each has its own fixed order, so that
// the compiler may use vector registers without reordering anything.
constexpr std::size_t kLanes = 16;

float Max(std::span<const float> values, float start) {
  float lanes[kLanes];
  for (float& lane : lanes) lane = start;
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

// e^x = 2^n e^r with n whole and |r| <= ln(2) / 2; e^r by its Taylor series to
// r^7.
HWY_INLINE float Exp(float x) {
  // e^-87 is the last whole power above the smallest normal float (1.2e-38).
  // For a lower one 2^n would be a subnormal float, whose exponent cannot be
  // made by a shift.
  constexpr float kLowest = -87.0f;
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds
  // ln 2 in two parts (Cody and Waite): kLn2High has 9 significant bits, so n
  // kLn2High is exact and the subtraction loses nothing.
  constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  // NaN becomes kLowest here, because it has no integer, and stays NaN in r.
  const float clamped = x > kLowest ? x : kLowest;
  const float n = (clamped * 1.44269504f + kRound) - kRound;
  const float r = (x - n * kLn2High) - n * kLn2Low;
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

void ExpOfDifferences(std::span<float> values, float subtracted) {
  for (float& value : values) value = Exp(value - subtracted);
}

SoftmaxResult Softmax(float positive_logit, std::span<float> negatives) {
  // Log-sum-exp of eq. 9: the largest logit is subtracted, so no exponential
  // overflows, and the largest is 1, so the sum is never 0. The result is the
  // same, because the factor e^max cancels in eq. 6.
  const float max = Max(negatives, positive_logit);
  ExpOfDifferences(negatives, max);
  const double negative_sum = Sum(negatives);
  const double total =
      negative_sum + std::exp(static_cast<double>(positive_logit) - max);
  const float scale = static_cast<float>(1 / total);
  for (float& value : negatives) value *= scale;
  // 1 - P(D+) as the share of the negatives: the difference itself would lose
  // its digits where P(D+) is near 1, as it is for most pairs late in training,
  // and with it the gradient of the clicked title.
  return {std::log(total) - (static_cast<double>(positive_logit) - max),
          static_cast<float>(negative_sum / total)};
}

void ScaleByTanhDerivative(const float* __restrict outputs, std::size_t count,
                           float* __restrict deltas) {
  // 1 - y^2 as a product: y^2 would lose the digits of 1 - y where |y| is
  // near 1.
  for (std::size_t i = 0; i < count; ++i) {
    deltas[i] *= (1 - outputs[i]) * (1 + outputs[i]);
  }
}

void AddWhereWon(const std::int32_t* __restrict winners, std::int32_t t,
                 const float* __restrict deltas, int count,
                 float* __restrict sums) {
  for (int i = 0; i < count; ++i) {
    // A select between two loaded values: without AVX the compiler does not
    // vectorise a branch, or a load that depends on one.
    const float delta = deltas[i];
    sums[i] += winners[i] == t ? delta : 0.0f;
  }
}

void AddEachRow(const float* __restrict rows, int num_rows, int width,
                float* __restrict sums) {
  for (int r = 0; r < num_rows; ++r) {
    const float* __restrict row = rows + static_cast<std::size_t>(r) * width;
    for (int i = 0; i < width; ++i) sums[i] += row[i];
  }
}

}  // namespace
}  // namespace semrank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace semrank {

HWY_EXPORT(ExpOfDifferences);
HWY_EXPORT(Softmax);
HWY_EXPORT(ScaleByTanhDerivative);
HWY_EXPORT(AddWhereWon);
HWY_EXPORT(AddEachRow);

namespace {

// A tower has fewer layers, so each (place, layer) has its own number.
constexpr std::uint64_t kLayers = 64;

}  // namespace

void ExpNonPositive(std::span<float> values) {
  HWY_DYNAMIC_DISPATCH(ExpOfDifferences)(values, 0);
}

SoftmaxResult SoftmaxNegatives(float positive_logit,
                               std::span<float> negatives) {
  return HWY_DYNAMIC_DISPATCH(Softmax)(positive_logit, negatives);
}

void MultiplyTanhDerivative(const float* outputs, std::size_t count,
                            float* deltas) {
  HWY_DYNAMIC_DISPATCH(ScaleByTanhDerivative)(outputs, count, deltas);
}

void AddWon(const std::int32_t* winners, std::int32_t t, const float* deltas,
            int count, float* sums) {
  HWY_DYNAMIC_DISPATCH(AddWhereWon)(winners, t, deltas, count, sums);
}

void AddRows(const float* rows, int num_rows, int width, float* sums) {
  HWY_DYNAMIC_DISPATCH(AddEachRow)(rows, num_rows, width, sums);
}

void Dropout::Apply(const HiddenRow& row, std::span<float> units,
                    std::span<std::uint8_t> kept) const {
  Random random(seed_, RandomPurpose::kDropout, step_,
                row.place * kLayers + row.layer);
  // A unit is kept if its 32 random bits, as a number, are at least p 2^32.
  const double threshold = share_ * 0x1p32;
  const float factor = static_cast<float>(1 / (1 - share_));
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    // A number of 64 bits serves two units.
    bits = i % 2 == 0 ? random.Next() : bits >> 32;
    kept[i] = static_cast<double>(bits & 0xffffffff) >= threshold;
    units[i] = kept[i] ? units[i] * factor : 0;
  }
}

void Dropout::BackwardThroughTanh(std::span<const float> units,
                                  std::span<const std::uint8_t> kept,
                                  std::span<float> deltas) const {
  const float keep_share = static_cast<float>(1 - share_);
  const float factor = static_cast<float>(1 / (1 - share_));
  for (std::size_t i = 0; i < units.size(); ++i) {
    // Apply has divided kept units by 1 - p; tanh' needs l as it was before.
    const float l = units[i] * keep_share;
    deltas[i] = kept[i] ? deltas[i] * factor * (1 - l) * (1 + l) : 0;
  }
}

}  // namespace semrank
#endif  // HWY_ONCE
