// How vectors are kept in memory where they are scored: as float32, or as
// bfloat16, the upper half of a float32, which takes half of the memory.
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

enum class VectorPrecision : int { kFloat32, kBf16 };

// Of a row that is kept.
struct RowFormat {
  int dim = 0;
  VectorPrecision precision = VectorPrecision::kFloat32;

  std::size_t num_bytes() const {
    return static_cast<std::size_t>(dim) *
           (precision == VectorPrecision::kFloat32 ? 4 : 2);
  }
  friend bool operator==(const RowFormat&, const RowFormat&) = default;
};

// Rounds each element to the nearest number of this precision, to even between
// two; infinities and NaN stay.
void RoundVector(VectorPrecision precision, std::span<float> vector);
bool IsRounded(VectorPrecision precision, std::span<const float> vector);

// From and to format.num_bytes() bytes, aligned to an element. What is encoded
// must be rounded.
void EncodeRow(const float* vector, RowFormat format, std::byte* row);
void DecodeRow(const std::byte* row, RowFormat format, float* vector);

}  // namespace semrank

#endif  // SEMRANK_MODEL_NN_ROW_FORMAT_H_
