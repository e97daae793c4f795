// Finds the documents of the catalog that a query names (name_match.h), without
// reading their texts: of each name the first eight bytes lie beside the slot,
// and a search compares those.
//
//   Names    a document_id, and the title; both normalised. Documents known by
//            number have no id.
//   Cost     18 bytes a slot. Prefixes of up to seven bytes are decided by the
//            keys alone; for longer ones, and where the keys leave one edit
//            open, the document's texts are normalised.
//   Threads  const, so thread-safe.
#ifndef SEMRANK_SERVER_CATALOG_STORE_CATALOG_NAMES_H_
#define SEMRANK_SERVER_CATALOG_STORE_CATALOG_NAMES_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/text/name_match.h"
#include "server/catalog/store/catalog_record.h"

namespace semrank {

// What is known of a document's names without reading them.
struct NameKeys {
  // The first bytes; shorter names end in zeros, which no normalised text
  // contains.
  using Start = std::array<char, 8>;
  Start id = {};
  Start title = {};
  // Where the last word begins, in bytes; at most 255.
  std::uint8_t last_word_of_id = 0;
  std::uint8_t last_word_of_title = 0;
};
NameKeys NameKeysOf(const CatalogRecord& record);

class NameQuery {
 public:
  // Of a normalised query, which outlives this. An empty one names nothing.
  explicit NameQuery(std::string_view query);

  // False for nearly all documents that the query does not name.
  bool MayName(const NameKeys& keys) const {
    return MayBegin(keys.id) || MayBegin(keys.title);
  }
  // How the query names the document.
  NameMatch Match(const NameKeys& keys, const CatalogRecord& record) const;

 private:
  bool Agree(const NameKeys::Start& start, std::uint64_t mask) const {
    return ((std::bit_cast<std::uint64_t>(start) ^ key_) & mask) == 0;
  }
  // Whether a name with this start may begin with the query or be one edit away
  // from it.
  bool MayBegin(const NameKeys::Start& start) const {
    const std::uint64_t other = std::bit_cast<std::uint64_t>(start);
    const std::uint64_t difference = key_ ^ other;
    if ((difference & may_mask_) != 0) return false;
    return (difference & mask_) == 0 || MayBecome(other, difference);
  }
  // The first byte that differs is where the edit is; behind it the bytes are
  // the same, where both texts have one letter of one byte there. Bits of the
  // first byte below the lowest one that differs are not looked at.
  bool MayBecome(std::uint64_t other, std::uint64_t difference) const {
    static_assert(std::endian::native == std::endian::little);
    if (((key_ | other) & kHighBits) != 0) return true;
    const std::uint64_t behind = -(difference & -difference);
    // Another letter or two swapped, a letter too many, one too few.
    return (difference & behind << 16) == 0 ||
           (((key_ >> 8) ^ other) & behind & kSevenBytes) == 0 ||
           ((key_ ^ (other >> 8)) & behind & kSevenBytes) == 0;
  }
  static constexpr std::uint64_t kHighBits = 0x8080808080808080;
  static constexpr std::uint64_t kSevenBytes = ~std::uint64_t{0} >> 8;

  bool MayBeTypoOf(const NameKeys::Start& start, std::size_t last_word) const;

  const std::string_view query_;
  // The first bytes of the query, and which bits of a Start they are.
  const std::uint64_t key_;
  const std::uint64_t mask_;
  // Of these, those that the start of a match has too: the first byte alone,
  // if an edit is forgiven.
  const std::uint64_t may_mask_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_STORE_CATALOG_NAMES_H_
