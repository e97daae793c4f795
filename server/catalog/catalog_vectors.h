// The vectors that one model gave the documents of the catalog, by slot.
//
//   Shape    row `slot` is `dim` floats. The rows of a chunk of 4,096 slots are
//            contiguous (2 MiB of 128 numbers: one huge page where the system
//            gives them), so growing copies nothing.
//   Owner    shared: a snapshot that uses the vectors keeps them alive.
//   Threads  one writer; readers of rows that the writer does not touch.
#ifndef SEMRANK_SERVER_CATALOG_CATALOG_VECTORS_H_
#define SEMRANK_SERVER_CATALOG_CATALOG_VECTORS_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "server/catalog/catalog_slots.h"

namespace semrank {

class CatalogVectors {
 public:
  // Of the model with this ServedModel::number.
  CatalogVectors(std::uint32_t model_number, int dim);
  ~CatalogVectors();
  CatalogVectors(const CatalogVectors&) = delete;
  CatalogVectors& operator=(const CatalogVectors&) = delete;

  std::uint32_t model_number() const { return model_number_; }
  int dim() const { return dim_; }

  // The row of `slot`, for whose chunk Reserve has been called.
  const float* row(std::uint32_t slot) const {
    return chunks_[slot / CatalogSlots::kChunkSlots] +
           std::size_t{slot % CatalogSlots::kChunkSlots} * dim_;
  }

  // Room for slots below `num_slots`. ResourceExhausted when the system has no
  // such memory.
  absl::Status Reserve(std::size_t num_slots);
  void Set(std::uint32_t slot, const float* row);
  std::size_t num_bytes() const { return num_chunks_ * ChunkBytes(); }

 private:
  std::size_t ChunkBytes() const {
    return std::size_t{CatalogSlots::kChunkSlots} * dim_ * sizeof(float);
  }

  const std::uint32_t model_number_;
  const int dim_;
  std::size_t num_chunks_ = 0;
  // A fixed directory: readers look at it while chunks are added.
  const std::unique_ptr<float*[]> chunks_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_CATALOG_VECTORS_H_
