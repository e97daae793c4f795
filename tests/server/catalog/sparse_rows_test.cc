#include "server/catalog/store/sparse_rows.h"

#include <gtest/gtest.h>

#include "tests/support/tiny_model.h"

namespace semrank {
namespace {

// A title of 10 n-grams takes 8 bytes for each, and 25 for its slot.
TEST(SparseRowsTest, ADocumentTakesEightBytesAnEntry) {
  const auto model = MakeTinyModel({.lexical_weight = 0.4});
  SparseRows rows(*model);
  const std::string_view title = "abcdefghij";
  const SparseBatch batch = SparseRows::RowsOf(*model, {&title, 1});
  rows.Reserve(SparseRows::kSlotsPerChunk);
  for (std::uint32_t slot = 0; slot < SparseRows::kSlotsPerChunk; ++slot) {
    rows.Set(slot, batch[0]);
  }
  rows.MakeSegments(1, [](std::uint32_t) { return true; });
  rows.FreeRetired(1);
  EXPECT_LE(rows.num_bytes() / SparseRows::kSlotsPerChunk,
            25 + 8 * batch.units.size());
}

}  // namespace
}  // namespace semrank
