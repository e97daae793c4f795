// How vectors are kept in memory where they are scored: as float32, as
// bfloat16, the upper half of a float32, or as int8, a quarter of the memory:
// multiples from -127 to 127 of a power of two, the smallest that suffices for
// the vector.
//
//   Promise  a model's vectors are rounded to its precision where they are made
//            (TwoTowerModel::EmbedTexts), so that keeping them loses nothing:
//            scores are the same bits from a kept row as from the vector.
//   Threads  thread-safe free functions.
#ifndef SEMRANK_MODEL_NN_ROW_FORMAT_H_
#define SEMRANK_MODEL_NN_ROW_FORMAT_H_

#include <cstddef>
#include <span>

namespace semrank {

enum class VectorPrecision : int { kFloat32, kBf16, kInt8 };

// The power of two before the elements of an int8 row.
inline constexpr int kInt8ScaleBytes = 4;

// The format of a row that is kept.
struct RowFormat {
  int dim = 0;
  VectorPrecision precision = VectorPrecision::kFloat32;

  // A multiple of the alignment.
  std::size_t num_bytes() const {
    const auto size = static_cast<std::size_t>(dim);
    switch (precision) {
      case VectorPrecision::kFloat32:
        return 4 * size;
      case VectorPrecision::kBf16:
        return 2 * size;
      case VectorPrecision::kInt8:
        return kInt8ScaleBytes + (size + 3) / 4 * 4;
    }
    return 0;
  }
  friend bool operator==(const RowFormat&, const RowFormat&) = default;
};

// Rounds each element to the nearest number of this precision, to even between
// two. Infinities and NaN stay; in int8 they make all elements NaN.
void RoundVector(VectorPrecision precision, std::span<float> vector);
bool IsRounded(VectorPrecision precision, std::span<const float> vector);

// How much longer or shorter than 1 rounding can have made a vector of that
// length, which is now `rounded`.
double LengthError(VectorPrecision precision, std::span<const float> rounded);

// Scales a vector to length 1 and rounds it. Zero stays zero, and a vector
// whose length is 1 up to rounding is not scaled: one from EmbedTexts keeps its
// bits. Returns false for NaN or infinity, and leaves the vector unchanged.
bool ScaleToUnitLength(VectorPrecision precision, std::span<float> vector);

// Whether dot products of the vector stay within float32, for models whose
// vectors have any length: false for NaN and for elements beyond +-1e15.
bool HasUsableValues(std::span<const float> vector);

// From and to format.num_bytes() bytes, aligned to four. What is encoded must
// be rounded.
void EncodeRow(const float* vector, RowFormat format, std::byte* row);
void DecodeRow(const std::byte* row, RowFormat format, float* vector);

}  // namespace semrank

#endif  // SEMRANK_MODEL_NN_ROW_FORMAT_H_
