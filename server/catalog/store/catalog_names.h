// Finds the documents of the catalog that a query names (name_match.h) without
// reading their texts: the first eight bytes of each name lie beside the slot,
// and a search compares only those.
//
//   Names    a document_id and the title, both from NormalizeName. Documents
//            known by number have no id.
//   Cost     9 bytes a slot for the title, and 9 for an id. The keys alone
//            decide about queries of up to seven bytes. For longer ones, and
//            where the keys leave one edit possible, the document's texts are
//            normalised and compared.
#ifndef SEMRANK_SERVER_CATALOG_STORE_CATALOG_NAMES_H_
#define SEMRANK_SERVER_CATALOG_STORE_CATALOG_NAMES_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/text/name_match.h"
#include "server/catalog/store/catalog_record.h"

namespace semrank {

// The beginning of a name.
struct NameKey {
  // Shorter names end in zeros, which no normalised text contains.
  using Start = std::array<char, 8>;
  Start start = {};
  // The offset of the last word in bytes, at most 255.
  std::uint8_t last_word = 0;

  friend bool operator==(const NameKey&, const NameKey&) = default;
};
// A document's names.
struct NameKeys {
  NameKey id;
  NameKey title;
};
NameKeys NameKeysOf(const CatalogRecord& record);

class NameQuery {
 public:
  // `name` is what NormalizeName makes of `text`. Both must outlive this. An
  // empty name names nothing.
  NameQuery(std::string_view text, std::string_view name);

  // A quick filter: false for nearly all documents that the query does not
  // name, never for one that it names.
  bool MayName(const NameKeys& keys) const {
    return MayMatch(keys.id) || MayMatch(keys.title);
  }
  // As MayName, for one of the names: whether it may begin with the query, or
  // may be one edit away from it.
  bool MayMatch(const NameKey& key) const {
    const std::uint64_t other = std::bit_cast<std::uint64_t>(key.start);
    const std::uint64_t difference = key_ ^ other;
    if ((difference & may_mask_) != 0) return false;
    return (difference & mask_) == 0 || MayBeOneEdit(other, difference);
  }
  // The best that Match may return, by the keys alone.
  NameMatch MaxMatch(const NameKeys& keys) const {
    // MayName is inline and excludes most documents without a call.
    if (!MayName(keys)) return NameMatch::kNone;
    return std::max(MaxMatch(keys.id), MaxMatch(keys.title));
  }
  // How the query names the document.
  NameMatch Match(const NameKeys& keys, const CatalogRecord& record) const;
  // How the query names a document of these texts, which are not normalised.
  NameMatch MatchTexts(std::string_view id, std::string_view title) const;

 private:
  bool Agree(const NameKey::Start& start, std::uint64_t mask) const {
    return ((std::bit_cast<std::uint64_t>(start) ^ key_) & mask) == 0;
  }
  // Whether a name that begins with `other` may be one edit away. The edit is
  // at the first byte that differs. After it the bytes must be equal, possibly
  // shifted by one, if both texts have letters of one byte. Bits of the first
  // differing byte below its lowest differing bit are not compared.
  bool MayBeOneEdit(std::uint64_t other, std::uint64_t difference) const {
    static_assert(std::endian::native == std::endian::little);
    if (((key_ | other) & kHighBits) != 0) return true;
    const std::uint64_t after = -(difference & -difference);
    // In turn: one letter replaced or two swapped, one too many, one too few.
    return (difference & after << 16) == 0 ||
           (((key_ >> 8) ^ other) & after & kSevenBytes) == 0 ||
           ((key_ ^ (other >> 8)) & after & kSevenBytes) == 0;
  }
  static constexpr std::uint64_t kHighBits = 0x8080808080808080;
  static constexpr std::uint64_t kSevenBytes = ~std::uint64_t{0} >> 8;

  bool MayBeTypoOf(const NameKey& key) const;
  NameMatch MaxMatch(const NameKey& key) const;

  const std::string_view text_;
  const std::string_view name_;
  const std::string_view words_;  // the name without further words
  // The first bytes of the query, and the bits of a Start that they fill.
  const std::uint64_t key_;
  const std::uint64_t mask_;
  // The bits that are equal in every match: those of the first byte if one edit
  // is allowed, else mask_.
  const std::uint64_t may_mask_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_STORE_CATALOG_NAMES_H_
