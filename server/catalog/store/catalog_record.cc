#include "server/catalog/store/catalog_record.h"

#include <algorithm>
#include <new>

namespace semrank {

// One allocation for the record and its four texts. Four strings would cost
// four pointers, sizes and headers of the allocator for each document.
CatalogRecord::Pointer CatalogRecord::Make(const DocumentKeyView& key,
                                           std::string_view title,
                                           std::string_view payload,
                                           std::string_view packed_tags) {
  const auto* const number = std::get_if<std::uint64_t>(&key);
  const std::string_view name =
      number != nullptr ? std::string_view() : std::get<std::string_view>(key);
  void* const memory =
      ::operator new(sizeof(CatalogRecord) + name.size() + title.size() +
                     payload.size() + packed_tags.size());
  auto* const record = new (memory) CatalogRecord();
  if (number != nullptr) {
    record->number_ = *number;
  } else {
    record->name_bytes_ = static_cast<std::uint32_t>(name.size());
  }
  record->title_bytes_ = static_cast<std::uint32_t>(title.size());
  record->payload_bytes_ = static_cast<std::uint32_t>(payload.size());
  record->tags_bytes_ = static_cast<std::uint32_t>(packed_tags.size());
  // The texts follow the record, in the order that the accessors expect.
  char* to = reinterpret_cast<char*>(record + 1);
  for (const std::string_view part : {name, title, payload, packed_tags}) {
    to = std::copy(part.begin(), part.end(), to);
  }
  return Pointer(record);
}

// A number needs no text; the record then has no name, which differs from an
// empty one.
DocumentKeyView CatalogRecord::key() const {
  if (name_bytes_ == kIsNumber) return number_;
  return std::string_view(text(), name_bytes_);
}

StoredDocument ToStoredDocument(const ServedModel& served,
                                const CatalogRecord& record, const float* row) {
  const TwoTowerModel& model = *served.model;
  return {record.key(),
          record.title(),
          record.payload(),
          model.version().identity,
          {row, static_cast<std::size_t>(model.embedding_dim())},
          record.packed_tags()};
}

}  // namespace semrank
