// Key, title, payload and tags of a document of the catalog, in one allocation.
//
//   Memory   24 bytes, the texts, and the overhead of the allocator.
//   Threads  const after construction.
#ifndef SEMRANK_SERVER_CATALOG_STORE_CATALOG_RECORD_H_
#define SEMRANK_SERVER_CATALOG_STORE_CATALOG_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "server/models/served_model.h"
#include "server/stores/document_store.h"

namespace semrank {

class CatalogRecord {
 public:
  using Pointer = std::unique_ptr<const CatalogRecord>;
  // The size of a record is not that of its class, so the sized operator of the
  // library must not be used.
  static void operator delete(void* record) { ::operator delete(record); }

  // Copies the texts, each of which must be shorter than 4 GiB.
  static Pointer Make(const DocumentKeyView& key, std::string_view title,
                      std::string_view payload,
                      std::string_view packed_tags = {});

  // The following return views into the record.
  DocumentKeyView key() const;
  std::string_view title() const {
    return {text() + name_bytes(), title_bytes_};
  }
  std::string_view payload() const {
    return {text() + name_bytes() + title_bytes_, payload_bytes_};
  }
  // As PackTags of document_tags.h returns them.
  std::string_view packed_tags() const {
    return {text() + name_bytes() + title_bytes_ + payload_bytes_, tags_bytes_};
  }
  // What the allocation takes, with the rounding and the header that allocators
  // usually have.
  std::size_t num_bytes() const {
    const std::size_t bytes = sizeof(*this) + name_bytes() + title_bytes_ +
                              payload_bytes_ + tags_bytes_;
    return (bytes + 8 + 15) / 16 * 16;
  }

 private:
  static constexpr std::uint32_t kIsNumber = 0xffffffff;

  CatalogRecord() = default;
  std::size_t name_bytes() const {
    return name_bytes_ == kIsNumber ? 0 : name_bytes_;
  }
  const char* text() const { return reinterpret_cast<const char*>(this + 1); }

  std::uint64_t number_ = 0;
  std::uint32_t name_bytes_ = kIsNumber;
  std::uint32_t title_bytes_ = 0;
  std::uint32_t payload_bytes_ = 0;
  std::uint32_t tags_bytes_ = 0;
};
static_assert(sizeof(CatalogRecord) == 24);

// The document as a store takes it, with `row`, the vector of its title under
// the model `served`. The result views all three.
StoredDocument ToStoredDocument(const ServedModel& served,
                                const CatalogRecord& record, const float* row);

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_STORE_CATALOG_RECORD_H_
