#include "server/catalog/search/scan_catalog.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace semrank {
namespace {

// Computes the bounds of the dense parts for all scorers that want them.
// bounds_of[i] points to those of scorer i in `bounds`; null = it wants none.
void BoundBlock(std::span<const BlockScorer> scorers, std::uint32_t first,
                std::span<float> bounds, std::span<const float*> bounds_of) {
  std::array<const BoundQuery*, kMaxSharedScans> queries;
  std::size_t count = 0;
  for (std::size_t i = 0; i < scorers.size(); ++i) {
    bounds_of[i] = nullptr;
    if (!scorers[i].WantsBounds(first)) continue;
    queries[count] = scorers[i].query().dense_bounds();
    bounds_of[i] = &bounds[count++ * Block::kSlots];
  }
  if (count == 0) return;
  // Any snapshot will do, since all have the same rows.
  const CatalogSnapshot& snapshot = scorers[0].query().snapshot();
  BoundTogether(std::span(queries).first(count), snapshot.codes(first),
                snapshot.scales(first), Block::kSlots, bounds.data());
}

}  // namespace

void ScanCatalog(std::span<BlockScorer> scorers, std::size_t first,
                 std::size_t last) {
  // The snapshots may be of different commits; the newest has the most slots.
  std::size_t end = 0;
  for (const BlockScorer& scorer : scorers) {
    end = std::max(end, scorer.query().snapshot().num_slots());
  }
  end = std::min(end, last);
  Block block;
  alignas(64) std::array<float, kMaxSharedScans * Block::kSlots> bounds;
  std::array<const float*, kMaxSharedScans> bounds_of;
  for (std::size_t slot = first; slot < end; slot += Block::kSlots) {
    const auto first_slot = static_cast<std::uint32_t>(slot);
    // One pass over the codes of the block for all scorers, which then find it
    // in the CPU's cache.
    BoundBlock(scorers, first_slot, bounds, bounds_of);
    for (std::size_t i = 0; i < scorers.size(); ++i) {
      scorers[i].ScoreBlock(first_slot, bounds_of[i], block);
    }
  }
}

}  // namespace semrank
