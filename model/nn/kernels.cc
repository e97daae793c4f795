#include "model/nn/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/nn/kernels.cc"
#include <hwy/foreach_target.h>  // before all that includes highway.h

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/nn/dot_block.h"
#include "model/nn/simd.h"

HWY_BEFORE_NAMESPACE();
namespace semrank::HWY_NAMESPACE {
namespace {

using simd::Broadcast;
using simd::IntVec;
using simd::kLanes;
using simd::MultiplyAdd;
using simd::Vec;

constexpr float kSmallestNorm = 1e-12f;

// exp(r) - 1 = r + r^2 q(r) for |r| <= log(2) / 2, fitted to the least relative
// error (1.3e-8).
constexpr float kExpm1[] = {0.49999998144f, 0.16666543177f, 0.041667201816f,
                            0.0083665804754f, 0.0013882507583f};
constexpr float kLog2E = 1.44269504089f;
constexpr float kLog2 = 0.69314718056f;

// Adding this to a float below 2^22 leaves the nearest whole number in the low
// bits of the sum.
constexpr float kRoundingShift = 12582912.0f;  // 1.5 * 2^23

// tanh(x) rounds to 1 in float for larger x.
constexpr float kTanhLimit = 10.0f;

// exp(y) - 1 for -20 <= y <= 0: 2^n exp(r) - 1 with y = n log(2) + r.
Vec Expm1(Vec y) {
  const Vec shifted =
      MultiplyAdd(y, Broadcast(kLog2E), Broadcast(kRoundingShift));
  const Vec n = shifted - kRoundingShift;
  // log(2) in one float suffices: its rounding error counts n times, but is
  // scaled by 2^n too.
  const Vec r = MultiplyAdd(n, Broadcast(-kLog2), y);
  Vec q = Broadcast(kExpm1[4]);
  for (int i = 3; i >= 0; --i) q = MultiplyAdd(q, r, Broadcast(kExpm1[i]));
  const Vec expm1_r = MultiplyAdd(r * r, q, r);
  const Vec scale = reinterpret_cast<Vec>(
      (reinterpret_cast<IntVec>(shifted) << 23) + (127 << 23));
  return MultiplyAdd(scale, expm1_r, scale - 1.0f);
}

// tanh |x| = (1 - e) / (1 + e) with e = exp(-2 |x|), through e - 1 so that
// small values keep their digits. The sign is restored as a bit, which makes
// the function exactly odd. NaN stays NaN.
Vec TanhVec(Vec x) {
  const IntVec bits = reinterpret_cast<IntVec>(x);
  const IntVec sign = bits & std::numeric_limits<std::int32_t>::min();
  const Vec size = reinterpret_cast<Vec>(bits ^ sign);
  const Vec limit = Broadcast(kTanhLimit);
  const Vec expm1 = Expm1((size > limit ? limit : size) * -2.0f);
  const Vec result = (0.0f - expm1) / (expm1 + 2.0f);
  return reinterpret_cast<Vec>(reinterpret_cast<IntVec>(result) | sign);
}

// For rows whose squares overflow float, which only a malicious model produces.
// Returns the norm.
float NormalizeWideRow(int width, float* row) {
  double sum = 0;
  for (int i = 0; i < width; ++i) sum += static_cast<double>(row[i]) * row[i];
  const double norm = std::sqrt(sum);
  if (!std::isfinite(norm)) {
    std::fill(row, row + width, 0.0f);
    return 0;
  }
  for (int i = 0; i < width; ++i) row[i] = static_cast<float>(row[i] / norm);
  return static_cast<float>(
      std::min<double>(norm, std::numeric_limits<float>::max()));
}

float DotProduct(const float* a, const float* b, int width) {
  const auto* const row = reinterpret_cast<const std::byte*>(b);
  float result;
  DotBlock<1, float>(a, &row, width, &result);
  return result;
}

float NormalizeRow(int width, float* row) {
  const float norm = std::sqrt(DotProduct(row, row, width));
  if (!std::isfinite(norm)) return NormalizeWideRow(width, row);
  if (norm < kSmallestNorm) {
    std::fill(row, row + width, 0.0f);
    return norm;
  }
  for (int i = 0; i < width; ++i) row[i] /= norm;
  return norm;
}

void NormalizeEach(int rows, int width, float* values, float* norms) {
  for (int r = 0; r < rows; ++r) {
    const float norm =
        NormalizeRow(width, values + static_cast<std::ptrdiff_t>(r) * width);
    if (norms != nullptr) norms[r] = norm;
  }
}

void AddToRows(const float* bias, int rows, int width, float* values) {
  for (int r = 0; r < rows; ++r) {
    float* row = values + static_cast<std::ptrdiff_t>(r) * width;
    for (int i = 0; i < width; ++i) row[i] += bias[i];
  }
}

void TanhInPlace(float* values, std::size_t count) {
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    simd::Store(TanhVec(simd::Load(values + i)), values + i);
  }
  const int rest = static_cast<int>(count - i);
  if (rest == 0) return;
  simd::StorePartial(TanhVec(simd::LoadPartial(values + i, rest)), values + i,
                     rest);
}

}  // namespace
}  // namespace semrank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace semrank {

HWY_EXPORT(AddToRows);
HWY_EXPORT(TanhInPlace);
HWY_EXPORT(DotProduct);
HWY_EXPORT(NormalizeEach);

void AddBias(const float* bias, int rows, int width, float* values) {
  HWY_DYNAMIC_DISPATCH(AddToRows)(bias, rows, width, values);
}

void Tanh(float* values, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(TanhInPlace)(values, count);
}

float Dot(const float* a, const float* b, int width) {
  return HWY_DYNAMIC_DISPATCH(DotProduct)(a, b, width);
}

void NormalizeRows(int rows, int width, float* values, float* norms) {
  HWY_DYNAMIC_DISPATCH(NormalizeEach)(rows, width, values, norms);
}

}  // namespace semrank
#endif  // HWY_ONCE
