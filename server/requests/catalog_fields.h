// Keys of documents, between messages and the catalog.
#ifndef SEMRANK_SERVER_REQUESTS_CATALOG_FIELDS_H_
#define SEMRANK_SERVER_REQUESTS_CATALOG_FIELDS_H_

#include <google/protobuf/repeated_field.h>

#include <cstdint>
#include <string>
#include <vector>

#include "server/stores/document_store.h"

namespace semrank {

// Numbered through: first `ids`, then `document_ids`, which they view.
inline std::vector<DocumentKeyView> KeysOf(
    const google::protobuf::RepeatedField<std::uint64_t>& ids,
    const google::protobuf::RepeatedPtrField<std::string>& document_ids) {
  std::vector<DocumentKeyView> keys(ids.begin(), ids.end());
  for (const std::string& name : document_ids) {
    keys.emplace_back(std::string_view(name));
  }
  return keys;
}

// Message is a Document or a DocumentHit.
template <typename Message>
void SetKey(const DocumentKeyView& key, Message& message) {
  if (const auto* const number = std::get_if<std::uint64_t>(&key)) {
    message.set_id(*number);
  } else {
    message.set_document_id(std::string(std::get<std::string_view>(key)));
  }
}

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_CATALOG_FIELDS_H_
