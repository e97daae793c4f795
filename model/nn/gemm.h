// Matrix product whose every output element is computed in one fixed order,
// whatever the shape around it:
//
//   sum = 0, bias[j] or C[i, j]
//   sum = fma(A[i, k], B[k, j], sum) for k = 0, 1, ..., depth - 1
//   C[i, j] = sum
//
// so the vector of a text does not depend on its batch, nor a gradient on how
// the work was split between threads. (Eigen chooses its blocking and its
// remainder kernels by shape, so it cannot promise this.) Each level of
// simd_level.h has its own code, and results differ between levels by what a
// fused multiply-add rounds less, not within one.
//
//   Threads  a PackedMatrix is const between calls that pack; several threads
//            may pack different parts. Multiply is thread-safe on disjoint
//            outputs.
#ifndef SEMRANK_MODEL_NN_GEMM_H_
#define SEMRANK_MODEL_NN_GEMM_H_

#include <cstddef>
#include <vector>

namespace semrank {

// A matrix seen through strides: element (i, k) is data[i * row_stride + k *
// column_stride]. Transposing swaps the strides.
struct StridedMatrix {
  const float* data = nullptr;
  int rows = 0;
  int columns = 0;
  std::ptrdiff_t row_stride = 0;
  std::ptrdiff_t column_stride = 1;

  StridedMatrix Transposed() const {
    return {data, columns, rows, column_stride, row_stride};
  }
};

// The right-hand side B [depth, columns], copied into panels that the kernel
// reads sequentially, zero-padded to whole SIMD vectors of the level in use.
class PackedMatrix {
 public:
  PackedMatrix() = default;
  explicit PackedMatrix(const StridedMatrix& matrix) { Pack(matrix); }

  // Replaces the content and reuses memory.
  void Pack(const StridedMatrix& matrix);

  // Packs in parts: after Resize, `rows` become the rows from `first` on, or
  // `columns` the columns. A Resize to the same shape keeps the content.
  void Resize(int depth, int columns);
  void PackRows(const StridedMatrix& rows, int first);
  void PackColumns(const StridedMatrix& columns, int first);

  int depth() const { return depth_; }
  int columns() const { return columns_; }

 private:
  friend void Multiply(const StridedMatrix&, const PackedMatrix&,
                       const struct MultiplyOptions&, float*, std::ptrdiff_t);
  static constexpr std::size_t kLineFloats = 16;
  struct alignas(64) CacheLine {
    float values[kLineFloats];
  };
  void PackBlock(const StridedMatrix& block, int first_row, int first_column);

  int depth_ = 0;
  int columns_ = 0;
  std::vector<CacheLine> lines_;  // panels, one after another
};

struct MultiplyOptions {
  // The initial values of every row's sums: columns() floats, or null for
  // zeros.
  const float* bias = nullptr;
  // C += A B instead of C = A B: the sums start from C, so a product that is
  // computed in slices of the depth gives the same bits. Not together with
  // bias.
  bool accumulate = false;
  // A and B hold units of integers (IntegersPerUnit) in place of floats. The
  // bias, or what C starts with, and the sums are 32-bit integers, which C
  // holds in the bits of its floats; the products are added exactly.
  bool integers = false;
};

// The number of integers in a unit, the 32 bits of a float. They belong to
// neighbouring k, the first of them in the lowest bits.
//   4   of 8 bits, unsigned in A and signed in B: AVX-512 with VNNI
//   2   of 16 bits, signed: all other processors
int IntegersPerUnit();

// C [a.rows, b.columns] = A [a.rows, depth] B (+ bias); row i of C begins at
// c + i * c_row_stride, which is at least b.columns(). a.columns must be
// b.depth(). C must not overlap A.
void Multiply(const StridedMatrix& a, const PackedMatrix& b,
              const MultiplyOptions& options, float* c,
              std::ptrdiff_t c_row_stride);

}  // namespace semrank

#endif  // SEMRANK_MODEL_NN_GEMM_H_
