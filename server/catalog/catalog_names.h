// Finds the documents of the catalog that a query names (name_match.h), without
// reading their texts: of each name the first eight bytes lie beside the slot,
// and a search compares those.
//
//   Names    a document_id, and the title; both normalised. Documents known by
//            number have no id.
//   Cost     16 bytes a slot. Queries of up to seven bytes are decided by the
//            keys alone; for longer ones the texts of documents with the same
//            first eight bytes are normalised.
//   Threads  const, so thread-safe.
#ifndef SEMRANK_SERVER_CATALOG_CATALOG_NAMES_H_
#define SEMRANK_SERVER_CATALOG_CATALOG_NAMES_H_

#include <cstdint>
#include <string_view>

#include "model/text/name_match.h"
#include "server/catalog/catalog_record.h"

namespace semrank {

// The first bytes of a document's names, the first byte in the highest place;
// shorter names end in zeros, which no normalised text contains.
struct NameKeys {
  std::uint64_t id = 0;
  std::uint64_t title = 0;
};
NameKeys NameKeysOf(const CatalogRecord& record);

class NameQuery {
 public:
  // Of a normalised query, which outlives this. An empty one names nothing.
  explicit NameQuery(std::string_view query);

  // False for most documents that the query does not name.
  bool MayName(const NameKeys& keys) const {
    return ((keys.id ^ key_) & mask_) == 0 ||
           ((keys.title ^ key_) & mask_) == 0;
  }
  // How the query names the document.
  NameMatch Match(const NameKeys& keys, const CatalogRecord& record) const;

 private:
  const std::string_view query_;
  const std::uint64_t key_;
  const std::uint64_t mask_;  // of the query's bytes in key_
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_CATALOG_NAMES_H_
