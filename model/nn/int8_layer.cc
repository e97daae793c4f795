#include "model/nn/int8_layer.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/nn/int8_layer.cc"
#include <hwy/foreach_target.h>  // before all that includes highway.h

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "model/nn/simd.h"

HWY_BEFORE_NAMESPACE();
namespace semrank::HWY_NAMESPACE {
namespace {

using simd::IntVec;
using simd::kLanes;
using simd::Vec;

constexpr float kMaxValue = 127;
// A number between 0 and this has no inverse and counts as 0.
constexpr float kSmallest = 1e-30F;
// Adding this to a smaller number rounds that to a whole number, which is then
// in the lowest bits of the sum.
constexpr float kRounder = 0x1.8p23F;

// Calls body(k, load, lanes) for each vector of a row; load(row + k) reads it.
template <typename Body>
HWY_ATTR void ForEachVector(int width, Body body) {
  int k = 0;
  for (; k + kLanes <= width; k += kLanes) {
    body(
        k, [](const float* from) HWY_ATTR { return simd::Load(from); }, kLanes);
  }
  if (k == width) return;
  const int lanes = width - k;
  body(
      k,
      [lanes](const float* from)
          HWY_ATTR { return simd::LoadPartial(from, lanes); },
      lanes);
}

// NaN when an element is NaN: without the sign, the bits of floats are in the
// order of their values, and those of NaN above all others.
float LargestMagnitude(const float* row, int width) {
  IntVec largest = {};
  ForEachVector(width, [&](int k, auto load, int) HWY_ATTR {
    const IntVec bits = reinterpret_cast<IntVec>(load(row + k)) & 0x7FFF'FFFF;
    largest = bits > largest ? bits : largest;
  });
  std::int32_t result = 0;
  for (int i = 0; i < kLanes; ++i) result = std::max(result, largest[i]);
  return std::bit_cast<float>(result);
}

// Rounds `scale` times the row to whole numbers and adds `offset`. A unit that
// the row does not fill ends with the offset.
template <typename Integer>
void RoundRow(const float* row, int width, float scale, int offset,
              float* units) {
  using Integers __attribute__((vector_size(kLanes * sizeof(Integer)))) =
      Integer;
  constexpr int kPerUnit = sizeof(float) / sizeof(Integer);
  ForEachVector(width, [&](int k, auto load, int lanes) HWY_ATTR {
    const Vec sums = simd::MultiplyAdd(load(row + k), simd::Broadcast(scale),
                                       simd::Broadcast(kRounder));
    const IntVec numbers = reinterpret_cast<IntVec>(sums) -
                           (std::bit_cast<std::int32_t>(kRounder) - offset);
    const Integers narrow = __builtin_convertvector(numbers, Integers);
    const int num_units = (lanes + kPerUnit - 1) / kPerUnit;
    std::memcpy(units + k / kPerUnit, &narrow,
                static_cast<std::size_t>(num_units) * sizeof(float));
  });
}

// Writes the row in units and returns its scale.
float QuantizeRow(const float* row, int width, int integers_per_unit,
                  int offset, float* units) {
  const float largest = LargestMagnitude(row, width);
  const float inverse = largest < kSmallest ? 0 : kMaxValue / largest;
  if (integers_per_unit == 4) {
    RoundRow<std::uint8_t>(row, width, inverse, offset, units);
  } else {
    RoundRow<std::int16_t>(row, width, inverse, offset, units);
  }
  return largest / kMaxValue;
}

// Replaces the sums in `row` by outputs.
void ScaleSums(float scale, const float* column_scales, const float* bias,
               int width, float* row) {
  ForEachVector(width, [&](int j, auto load, int lanes) HWY_ATTR {
    const Vec sums =
        __builtin_convertvector(reinterpret_cast<IntVec>(load(row + j)), Vec);
    const Vec outputs = simd::MultiplyAdd(sums, load(column_scales + j) * scale,
                                          load(bias + j));
    simd::StorePartial(outputs, row + j, lanes);
  });
}

}  // namespace
}  // namespace semrank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace semrank {
namespace {

HWY_EXPORT(QuantizeRow);
HWY_EXPORT(ScaleSums);

// The offset of X where units have no sign.
int OffsetOfInputs(int integers_per_unit) {
  return integers_per_unit == 4 ? 128 : 0;
}

// Sums the int8 weights of a column of V. An offset added to every input adds
// the offset times this sum to the output.
int SumOfBytes(std::span<const float> units) {
  int sum = 0;
  for (const std::byte byte : std::as_bytes(units)) {
    sum += static_cast<std::int8_t>(byte);
  }
  return sum;
}

}  // namespace

Int8Layer::Int8Layer(const StridedMatrix& weight, const float* bias)
    : num_inputs_(weight.rows), bias_(bias) {
  // 65,536 products of numbers up to 255 and 127 add up to less than 2^31.
  assert(weight.rows <= 65'536);
  const int per_unit = IntegersPerUnit();
  const int num_units = (weight.rows + per_unit - 1) / per_unit;
  const int offset = OffsetOfInputs(per_unit);
  const auto stride = static_cast<std::size_t>(num_units);
  std::vector<float> units(static_cast<std::size_t>(weight.columns) * stride);
  std::vector<float> column(static_cast<std::size_t>(weight.rows));
  for (int j = 0; j < weight.columns; ++j) {
    // A column is quantized as a row, with a scale t[j] of its own.
    for (int k = 0; k < weight.rows; ++k) {
      column[static_cast<std::size_t>(k)] =
          weight.data[k * weight.row_stride + j * weight.column_stride];
    }
    const std::span<float> column_units =
        std::span(units).subspan(static_cast<std::size_t>(j) * stride, stride);
    column_scales_.push_back(HWY_DYNAMIC_DISPATCH(QuantizeRow)(
        column.data(), weight.rows, per_unit, 0, column_units.data()));
    first_sums_.push_back(std::bit_cast<float>(
        offset == 0 ? 0 : -offset * SumOfBytes(column_units)));
  }
  weight_.Pack({units.data(), num_units, weight.columns, 1, num_units});
}

void Int8Layer::Apply(int rows, const float* inputs, Int8Scratch& scratch,
                      float* outputs) const {
  const int num_units = weight_.depth();
  const int per_unit = IntegersPerUnit();
  scratch.units.resize(std::max(
      scratch.units.size(),
      static_cast<std::size_t>(rows) * static_cast<std::size_t>(num_units)));
  scratch.scales.resize(static_cast<std::size_t>(rows));
  float* row_units = scratch.units.data();
  for (float& scale : scratch.scales) {
    scale = HWY_DYNAMIC_DISPATCH(QuantizeRow)(
        inputs, num_inputs_, per_unit, OffsetOfInputs(per_unit), row_units);
    inputs += num_inputs_;
    row_units += num_units;
  }
  Multiply({scratch.units.data(), rows, num_units, num_units, 1}, weight_,
           {.bias = first_sums_.data(), .integers = true}, outputs, width());
  for (const float scale : scratch.scales) {
    HWY_DYNAMIC_DISPATCH(ScaleSums)
    (scale, column_scales_.data(), bias_, width(), outputs);
    outputs += width();
  }
}

}  // namespace semrank
#endif  // HWY_ONCE
