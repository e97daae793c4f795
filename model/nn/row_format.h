// The format of vectors in memory where they are scored: float32; bfloat16, the
// upper half of a float32; or int8, a quarter of the memory, which has
// multiples from -127 to 127 of the smallest power of two that suffices for the
// vector.
//
//   Promise  a model's vectors are rounded to its precision where they are made
//            (TwoTowerModel::EmbedTexts), so that keeping them loses nothing:
//            scores are the same bits from a kept row as from the vector.
#ifndef SEMRANK_MODEL_NN_ROW_FORMAT_H_
#define SEMRANK_MODEL_NN_ROW_FORMAT_H_

#include <cstddef>
#include <span>

namespace semrank {

enum class VectorPrecision : int { kFloat32, kBf16, kInt8 };

// The power of two before the elements of an int8 row.
inline constexpr int kInt8ScaleBytes = 4;

// Up to this dimension a sum of products of int8 numbers is at most 2^24, so
// that float32, too, adds them up exactly.
inline constexpr int kMaxIntegerDim = (1 << 24) / (127 * 127);

// The format of a stored row.
struct RowFormat {
  int dim = 0;
  VectorPrecision precision = VectorPrecision::kFloat32;

  // A multiple of the alignment of the elements.
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

// The power of two of which the elements of an int8 row are multiples, the same
// before and after rounding; NaN if an element is infinite or NaN.
float Int8Scale(std::span<const float> vector);

// Rounds each element to the nearest number of this precision, to even between
// two. Infinities and NaN stay; in int8 they make all elements NaN.
void RoundVector(VectorPrecision precision, std::span<float> vector);
bool IsRounded(VectorPrecision precision, std::span<const float> vector);

// How much rounding to this precision can have changed the length of a vector
// of length 1, which is now `rounded`.
double LengthError(VectorPrecision precision, std::span<const float> rounded);

// Scales a vector to length 1 and rounds it. Zero stays zero, and a vector
// whose length is 1 up to rounding is not scaled: one from EmbedTexts keeps its
// bits. Returns false for NaN or infinity, and leaves the vector unchanged.
bool ScaleToUnitLength(VectorPrecision precision, std::span<float> vector);

// Whether dot products of the vector stay within float32, for models whose
// vectors have any length: false for NaN and for elements beyond +-1e15.
bool HasUsableValues(std::span<const float> vector);

// Convert to and from format.num_bytes() bytes, aligned to four. EncodeRow
// takes rounded elements.
void EncodeRow(const float* vector, RowFormat format, std::byte* row);
void DecodeRow(const std::byte* row, RowFormat format, float* vector);

}  // namespace semrank

#endif  // SEMRANK_MODEL_NN_ROW_FORMAT_H_
