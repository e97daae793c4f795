// The elementwise loops of a backward pass.
//
//   Shapes   arrays of one call have the same length and do not overlap.
//   Threads  thread-safe on disjoint outputs.
//   Results  are the same to the bit at every level of simd_level.h: no
//            operations are fused.
#ifndef SEMRANK_MODEL_TRAIN_TOWERS_GRADIENT_KERNELS_H_
#define SEMRANK_MODEL_TRAIN_TOWERS_GRADIENT_KERNELS_H_

#include <cstddef>
#include <cstdint>

namespace semrank {

// deltas[i] *= tanh'(z) = (1 - y)(1 + y) with y = tanh(z) = outputs[i] (DSSM
// eq. 16 and 17).
void MultiplyTanhDerivative(const float* outputs, std::size_t count,
                            float* deltas);

// sums[i] += deltas[i] for the units whose maximum is in window t (CLSM eq.
// 16).
void AddWon(const std::int32_t* winners, std::int32_t t, const float* deltas,
            int count, float* sums);

// sums[i] += the sum of column i of `rows` [num_rows, width].
void AddRows(const float* rows, int num_rows, int width, float* sums);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_TOWERS_GRADIENT_KERNELS_H_
