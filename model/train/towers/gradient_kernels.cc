#include "model/train/towers/gradient_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/train/towers/gradient_kernels.cc"
#include <hwy/foreach_target.h>  // before all that includes highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace semrank::HWY_NAMESPACE {
namespace {

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

HWY_EXPORT(ScaleByTanhDerivative);
HWY_EXPORT(AddWhereWon);
HWY_EXPORT(AddEachRow);

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

}  // namespace semrank
#endif  // HWY_ONCE
