// The documents that a request names.
#ifndef SEMRANK_SERVER_REQUESTS_DOCUMENT_KEYS_H_
#define SEMRANK_SERVER_REQUESTS_DOCUMENT_KEYS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "model/base/status_macros.h"
#include "server/base/errors.h"
#include "server/base/text_checks.h"
#include "server/catalog/store/catalog_names.h"

namespace semrank {

// The keys of a request, read in place: numbers, then names.
class DocumentKeys {
 public:
  // The names of the two fields, for errors.
  DocumentKeys(std::string_view ids_field, std::string_view names_field)
      : ids_field_(ids_field), names_field_(names_field) {}

  // Where the reader of the request appends.
  std::vector<std::uint64_t>& ids() { return ids_; }
  std::vector<std::string_view>& names() { return names_; }

  std::size_t size() const { return ids_.size() + names_.size(); }
  absl::Status CheckNotEmpty() const {
    if (size() > 0) return absl::OkStatus();
    return FieldError("NO_DOCUMENTS", ids_field_, "the request has no key");
  }
  // INVALID_UTF8 if one of the names is not UTF-8.
  absl::Status CheckNames() const {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      SEMRANK_RETURN_IF_ERROR(CheckUtf8(ItemName(names_field_, i), names_[i]));
    }
    return absl::OkStatus();
  }
  // DOCUMENT_ID_TOO_LONG if no document can have one of the names.
  absl::Status CheckNameLengths(std::int64_t max_document_id_bytes) const {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (names_[i].size() > static_cast<std::size_t>(max_document_id_bytes)) {
        return TooLong("DOCUMENT_ID_TOO_LONG", ItemName(names_field_, i),
                       names_[i].size(), max_document_id_bytes,
                       "max_document_id_bytes");
      }
    }
    return absl::OkStatus();
  }
  // Makes one list in the order in which results are numbered: first the ids,
  // then the names, whatever their order on the wire.
  std::vector<DocumentKeyView> Views() const {
    std::vector<DocumentKeyView> views(ids_.begin(), ids_.end());
    views.insert(views.end(), names_.begin(), names_.end());
    return views;
  }
  // The field that has key i.
  std::string_view FieldOf(std::size_t i) const {
    return i < ids_.size() ? ids_field_ : names_field_;
  }
  // DOCUMENT_NOT_FOUND for key i.
  ItemProblem NotFound(std::size_t i) const {
    const std::size_t place = i < ids_.size() ? i : i - ids_.size();
    return {static_cast<std::uint32_t>(i),
            DocumentNotFound(ItemName(FieldOf(i), place))};
  }

 private:
  const std::string_view ids_field_;
  const std::string_view names_field_;
  std::vector<std::uint64_t> ids_;
  std::vector<std::string_view> names_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_DOCUMENT_KEYS_H_
