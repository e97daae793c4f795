#include "server/requests/document_keys_work.h"

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "server/base/errors.h"
#include "server/catalog/catalog_searcher.h"
#include "server/catalog/catalog_writer.h"
#include "server/requests/catalog_fields.h"
#include "server/requests/message_parser.h"
#include "server/requests/response_fields.h"

namespace semrank {
namespace {

absl::Status CheckNotEmpty(const std::vector<DocumentKeyView>& keys) {
  if (!keys.empty()) return absl::OkStatus();
  return FieldError("NO_DOCUMENTS", "ids", "the request has no key");
}

// For key i of a request with `num_ids` ids.
ItemProblem NotFound(std::size_t i, std::size_t num_ids) {
  const bool by_number = i < num_ids;
  return {static_cast<std::uint32_t>(i),
          DocumentNotFound(ItemName(by_number ? "ids" : "document_ids",
                                    by_number ? i : i - num_ids))};
}

}  // namespace

absl::Status GetWork::Read(std::string_view bytes) {
  SEMRANK_RETURN_IF_ERROR(ParseMessage(bytes, message_));
  keys_ = KeysOf(message_.ids(), message_.document_ids());
  SEMRANK_RETURN_IF_ERROR(CheckNotEmpty(keys_));
  snapshot_ = environment_.catalog_writer->catalog().TakeSnapshot();
  return message_.with_vectors() ? CheckVectors() : absl::OkStatus();
}

absl::Status GetWork::CheckVectors() const {
  SEMRANK_RETURN_IF_ERROR(CheckCatalogModel(
      message_.model().name(), message_.model().version(), snapshot_.model()));
  if (!v1::VectorEncoding_IsValid(message_.encoding())) {
    return FieldError(
        "INVALID_FIELD", "encoding",
        absl::StrFormat("%d is no value of this field", message_.encoding()));
  }
  if (snapshot_.model()->model->embedding_dim() > 0) return absl::OkStatus();
  return FieldError("INVALID_FIELD", "with_vectors",
                    "the catalog's model has no vectors");
}

absl::StatusOr<Progress> GetWork::Advance(const RequestRun& /*run*/) {
  std::vector<float> rows;
  AddDocuments(rows);
  if (message_.with_vectors()) {
    const ServedModelPtr served = snapshot_.model();
    const bool unsaid = message_.encoding() == v1::VECTOR_ENCODING_UNSPECIFIED;
    SetVectors(rows, served->model->embedding_dim(),
               unsaid ? v1::VECTOR_ENCODING_FLOAT32 : message_.encoding(),
               response_);
    SetModel(*served, response_);
  }
  const auto max_bytes = static_cast<std::size_t>(
      MaxResponseBytes(environment_.catalog_writer->limits()));
  if (response_.ByteSizeLong() > max_bytes) {
    return FieldError(
        "INVALID_FIELD", "ids",
        absl::StrFormat("the documents are more than the %d bytes of the "
                        "largest response; ask for fewer at once",
                        max_bytes));
  }
  return Progress::kDone;
}

void GetWork::AddDocuments(std::vector<float>& rows) {
  std::vector<ItemProblem> problems;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const auto slot = snapshot_.Find(keys_[i]);
    if (!slot.has_value()) {
      problems.push_back(NotFound(i, message_.ids_size()));
      continue;
    }
    const CatalogRecord& record = snapshot_.record(*slot);
    v1::Document& out = *response_.add_documents();
    SetKey(record.key(), out);
    out.set_title(std::string(record.title()));
    if (message_.with_payloads()) {
      out.set_payload(std::string(record.payload()));
    }
    if (!message_.with_vectors()) continue;
    const float* const row = snapshot_.vector(*slot);
    rows.insert(rows.end(), row,
                row + snapshot_.model()->model->embedding_dim());
  }
  SetProblems(problems, response_);
}

absl::Status DeleteWork::Read(std::string_view bytes) {
  SEMRANK_RETURN_IF_ERROR(ParseMessage(bytes, message_));
  keys_ = KeysOf(message_.ids(), message_.document_ids());
  return CheckNotEmpty(keys_);
}

absl::StatusOr<Progress> DeleteWork::Advance(const RequestRun& /*run*/) {
  std::vector<bool> found;
  SEMRANK_ASSIGN_OR_RETURN(const std::uint32_t num_deleted,
                           environment_.catalog_writer->Delete(keys_, found));
  response_.set_num_deleted(num_deleted);
  std::vector<ItemProblem> problems;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    if (!found[i]) problems.push_back(NotFound(i, message_.ids_size()));
  }
  SetProblems(problems, response_);
  return Progress::kDone;
}

}  // namespace semrank
