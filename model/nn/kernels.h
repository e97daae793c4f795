// The inner loops of towers and scoring besides the matrix product. Each text
// is computed alone and in a fixed order, so results do not depend on the batch
// (see gemm.h).
//
//   Shapes   asserted; callers check what comes from input.
//   Threads  thread-safe on disjoint outputs.
#ifndef SEMRANK_MODEL_NN_KERNELS_H_
#define SEMRANK_MODEL_NN_KERNELS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "model/text/featurizer.h"

namespace semrank {

// Computes the first layer without its bias: row t of `sums` [last - first,
// width] is the sum of count * table[index, :] over the bag of text first + t
// (DSSM eq. 3, W2 l1). `table` is [num_features, width], unpadded.
void SumBags(const BagBatch& batch, int first, int last, const float* table,
             int width, float* sums);

// Row t of `sums` [offsets.size() - 1, width] is the sum of rows [offsets[t],
// offsets[t + 1]) of `rows`, which lie anywhere, added in order.
void SumRows(std::span<const std::uint32_t> offsets, const float* const* rows,
             int width, float* sums);

// values[i] += bias[i % width] in rows of `width`.
void AddBias(const float* bias, int rows, int width, float* values);

// tanh in place (DSSM eq. 4), within 3e-7 of the exact value, odd to the bit,
// never beyond +-1; NaN stays NaN.
void Tanh(float* values, std::size_t count);

// Divides each row by its L2 norm, in place; a row whose norm is below 1e-12,
// or that holds an infinity or NaN, becomes zero, so that its cosine with
// anything is 0 and never NaN. `norms`, if not null, gets the norm of each row
// before division (0 for infinities and NaN).
void NormalizeRows(int rows, int width, float* values, float* norms = nullptr);

// The sum of a[i] * b[i], in an order that depends on `width` alone. For unit
// vectors it is their cosine (DSSM eq. 5).
float Dot(const float* a, const float* b, int width);

}  // namespace semrank

#endif  // SEMRANK_MODEL_NN_KERNELS_H_
