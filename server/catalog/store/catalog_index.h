// A hash table from document keys to slots of the catalog, which one writer
// changes while others read. It holds hashes only: the reader asks the slot
// whether it has the key and is visible. Several slots may have one key,
// visible as of different commits.
//
//   Memory   8 bytes an entry, of which at most three quarters are used: 11 to
//            27 bytes a document.
//   Growth   by a new table; readers of the old one keep it alive.
//   Threads  one writer, any readers.
#ifndef SEMRANK_SERVER_CATALOG_STORE_CATALOG_INDEX_H_
#define SEMRANK_SERVER_CATALOG_STORE_CATALOG_INDEX_H_

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace semrank {

class CatalogIndex {
 public:
  // Makes room for `num_slots` entries and a quarter more.
  explicit CatalogIndex(std::size_t num_slots);

  // Returns the first slot under `hash` for which matches(slot) is true.
  template <typename Matches>
  std::optional<std::uint32_t> Find(std::uint64_t hash, Matches matches) const {
    for (std::size_t at = hash & mask_;; at = (at + 1) & mask_) {
      const std::uint64_t entry = entries_[at].load(std::memory_order_relaxed);
      if (entry == kEmpty) return std::nullopt;
      if (entry >> 32 != hash >> 32 || entry == kRemoved) continue;
      const std::uint32_t slot = SlotOf(entry);
      if (matches(slot)) return slot;
    }
  }

  // Before a Find: Prefetch loads the first entry into the CPU's cache, and
  // Guess then returns the slot that Find most likely tries first.
  void Prefetch(std::uint64_t hash) const {
    __builtin_prefetch(&entries_[hash & mask_]);
  }
  std::optional<std::uint32_t> Guess(std::uint64_t hash) const {
    return Find(hash, [](std::uint32_t /*slot*/) { return true; });
  }

  // For the writer. Insert needs room; Remove needs the entry to be there.
  bool HasRoom(std::size_t num_more) const {
    return num_used_ + num_more <= size() / 4 * 3;
  }
  void Insert(std::uint64_t hash, std::uint32_t slot);
  void Remove(std::uint64_t hash, std::uint32_t slot);

  std::size_t num_bytes() const { return size() * sizeof(entries_[0]); }

 private:
  // An entry is the upper half of the hash and, in its lower half, the slot
  // plus 2, so that it is neither of these.
  static constexpr std::uint64_t kEmpty = 0;
  static constexpr std::uint64_t kRemoved = 1;
  static std::uint64_t EntryOf(std::uint64_t hash, std::uint32_t slot) {
    return (hash >> 32 << 32) | (slot + 2);
  }
  static std::uint32_t SlotOf(std::uint64_t entry) {
    return static_cast<std::uint32_t>(entry) - 2;
  }
  std::size_t size() const { return mask_ + 1; }

  const std::size_t mask_;
  std::size_t num_used_ = 0;  // removed entries included
  const std::unique_ptr<std::atomic<std::uint64_t>[]> entries_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_STORE_CATALOG_INDEX_H_
