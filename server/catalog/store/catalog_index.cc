#include "server/catalog/store/catalog_index.h"

#include <algorithm>

namespace semrank {
namespace {

constexpr std::size_t kMinEntries = 64;

}  // namespace

// 5/3 = 1.25 / 0.75: a quarter more entries than slots, and a load of at most
// three quarters.
CatalogIndex::CatalogIndex(std::size_t num_slots)
    : mask_(std::bit_ceil(std::max(kMinEntries, num_slots * 5 / 3)) - 1),
      entries_(std::make_unique<std::atomic<std::uint64_t>[]>(mask_ + 1)) {}

// Relaxed order suffices: an entry only suggests a slot. Whether a reader may
// look at that slot is decided by the slot's commits, which have an order.
void CatalogIndex::Insert(std::uint64_t hash, std::uint32_t slot) {
  std::size_t at = hash & mask_;
  while (true) {
    const std::uint64_t entry = entries_[at].load(std::memory_order_relaxed);
    if (entry == kEmpty) ++num_used_;
    // Removed entries are reused. They stay included in num_used_, because
    // look-ups still probe them.
    if (entry == kEmpty || entry == kRemoved) break;
    at = (at + 1) & mask_;
  }
  entries_[at].store(EntryOf(hash, slot), std::memory_order_relaxed);
}

// Marks the entry in place of emptying it: Find stops at an empty entry, and
// another key may lie after this one.
void CatalogIndex::Remove(std::uint64_t hash, std::uint32_t slot) {
  std::size_t at = hash & mask_;
  while (entries_[at].load(std::memory_order_relaxed) != EntryOf(hash, slot)) {
    at = (at + 1) & mask_;
  }
  entries_[at].store(kRemoved, std::memory_order_relaxed);
}

}  // namespace semrank
