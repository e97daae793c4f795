#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "semrank/v1/catalog_service.pb.h"
#include "server/base/errors.h"
#include "server/base/limits.h"
#include "server/catalog/sync/catalog_writer.h"
#include "server/requests/document_keys.h"
#include "server/requests/handlers.h"
#include "server/requests/message_fields.h"
#include "server/requests/wire_reader.h"

namespace semrank {
namespace {

// INVALID_FIELD for documents of more bytes than the largest response has.
// Callers check while they add documents: one key that is repeated would
// otherwise fill the memory with copies of a large payload.
absl::Status CheckResponseBytes(std::string_view field, std::size_t num_bytes,
                                const Limits& limits) {
  const std::int64_t max_bytes = MaxResponseBytes(limits);
  if (num_bytes <= static_cast<std::size_t>(max_bytes)) {
    return absl::OkStatus();
  }
  return FieldError(
      "INVALID_FIELD", field,
      absl::StrFormat("the documents are more than the %d bytes of the largest "
                      "response; ask for fewer at once",
                      max_bytes));
}

// Runs in one slice, whatever the number of keys: a document costs a look-up in
// a hash table and a copy, and no tower runs.
class GetHandler final : public HandlerOf<v1::GetDocumentsResponse> {
 public:
  using HandlerOf::HandlerOf;

  absl::StatusOr<RequestSize> Read(std::string_view bytes) override;
  absl::StatusOr<Progress> RunSlice(const RequestRun& run) override;

 private:
  absl::Status CheckVectors(const ModelRefView& model,
                            std::int32_t encoding) const;
  // Adds the documents, and their vectors to `rows`.
  absl::Status AddDocuments(std::vector<float>& rows);

  DocumentKeys keys_{"ids", "document_ids"};
  bool with_payloads_ = false;
  bool with_vectors_ = false;
  v1::VectorEncoding encoding_ = v1::VECTOR_ENCODING_FLOAT32;
  CatalogSnapshot snapshot_;
};

absl::StatusOr<RequestSize> GetHandler::Read(std::string_view bytes) {
  using Request = v1::GetDocumentsRequest;
  std::int32_t encoding = 0;
  ModelRefView model;
  SEMRANK_RETURN_IF_ERROR(ReadFields<Request>(
      bytes, parts_.limits.max_texts_per_request,
      WireField(Request::kIdsFieldNumber, keys_.ids()),
      WireField(Request::kDocumentIdsFieldNumber, keys_.names()),
      WireField(Request::kWithPayloadsFieldNumber, with_payloads_),
      WireField(Request::kWithVectorsFieldNumber, with_vectors_),
      WireField(Request::kEncodingFieldNumber, encoding),
      WireField(Request::kModelFieldNumber, model)));
  SEMRANK_RETURN_IF_ERROR(keys_.CheckNotEmpty());
  SEMRANK_RETURN_IF_ERROR(CheckModelName(model));
  // Read takes the snapshot, not RunSlice: the model that is checked below and
  // the vectors that are returned must come from one state of the catalog.
  snapshot_ = parts_.catalog->documents.TakeSnapshot();
  if (with_vectors_) {
    SEMRANK_RETURN_IF_ERROR(CheckVectors(model, encoding));
    if (encoding != v1::VECTOR_ENCODING_UNSPECIFIED) {
      encoding_ = static_cast<v1::VectorEncoding>(encoding);
    }
  }
  return RequestSize{static_cast<std::int64_t>(keys_.size()), bytes.size()};
}

// Vectors of two models cannot be compared, so a model that the catalog does
// not answer for is an error rather than replaced by the one that it has.
absl::Status GetHandler::CheckVectors(const ModelRefView& model,
                                      std::int32_t encoding) const {
  SEMRANK_RETURN_IF_ERROR(CheckCatalogModel(parts_.models->NameOf(model.name),
                                            model.version, snapshot_.model()));
  SEMRANK_RETURN_IF_ERROR(
      CheckEnum("encoding", encoding, v1::VectorEncoding_IsValid));
  if (snapshot_.model()->model->embedding_dim() > 0) return absl::OkStatus();
  return FieldError("INVALID_FIELD", "with_vectors",
                    "the catalog's model has no vectors");
}

absl::StatusOr<Progress> GetHandler::RunSlice(const RequestRun& /*run*/) {
  SEMRANK_RETURN_IF_ERROR(keys_.CheckNames());
  std::vector<float> rows;
  SEMRANK_RETURN_IF_ERROR(AddDocuments(rows));
  // Rows without a gap: a document that is missing has no row either.
  if (with_vectors_) {
    const ServedModelPtr served = snapshot_.model();
    SetVectors(rows, served->model->embedding_dim(), encoding_, response_);
    SetModel(*served, response_);
  }
  // Vectors and problems also count for what clients accept as one message.
  SEMRANK_RETURN_IF_ERROR(CheckResponseBytes(keys_.FieldOf(keys_.size() - 1),
                                             response_.ByteSizeLong(),
                                             parts_.limits));
  return Progress::kDone;
}

absl::Status GetHandler::AddDocuments(std::vector<float>& rows) {
  std::vector<ItemProblem> problems;
  const std::vector<DocumentKeyView> keys = keys_.Views();
  std::size_t num_bytes = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto slot = snapshot_.Find(keys[i]);
    if (!slot.has_value()) {
      // The documents that exist are returned; `documents` is then shorter than
      // the keys, and the problems say which ones are missing.
      problems.push_back(keys_.NotFound(i));
      continue;
    }
    const CatalogRecord& record = snapshot_.record(*slot);
    v1::Document& out = *response_.add_documents();
    SetKey(record.key(), out);
    out.set_title(std::string(record.title()));
    if (with_payloads_) out.set_payload(std::string(record.payload()));
    for (const std::string_view tag : UnpackTags(record.packed_tags())) {
      out.add_tags(std::string(tag));
    }
    num_bytes += out.ByteSizeLong();
    SEMRANK_RETURN_IF_ERROR(
        CheckResponseBytes(keys_.FieldOf(i), num_bytes, parts_.limits));
    if (!with_vectors_) continue;
    const std::vector<float> vector = snapshot_.vector(*slot);
    rows.insert(rows.end(), vector.begin(), vector.end());
  }
  SetProblems(problems, response_);
  return absl::OkStatus();
}

class DeleteHandler final : public HandlerOf<v1::DeleteDocumentsResponse> {
 public:
  using HandlerOf::HandlerOf;

  absl::StatusOr<RequestSize> Read(std::string_view bytes) override {
    using Request = v1::DeleteDocumentsRequest;
    SEMRANK_RETURN_IF_ERROR(ReadFields<Request>(
        bytes, parts_.limits.max_texts_per_request,
        WireField(Request::kIdsFieldNumber, keys_.ids()),
        WireField(Request::kDocumentIdsFieldNumber, keys_.names())));
    SEMRANK_RETURN_IF_ERROR(keys_.CheckNotEmpty());
    return RequestSize{static_cast<std::int64_t>(keys_.size()), bytes.size()};
  }

  // One commit for all keys, so a snapshot sees either all or none of them. A
  // key without a document is a problem and not an error: a repeated deletion
  // succeeds.
  absl::StatusOr<Progress> RunSlice(const RequestRun& /*run*/) override {
    SEMRANK_RETURN_IF_ERROR(keys_.CheckNames());
    // The store gets all names, also those without a document: another server
    // may have put one. All servers then read them from the log of changes,
    // which a few long names would make too large to read.
    SEMRANK_RETURN_IF_ERROR(
        keys_.CheckNameLengths(parts_.limits.max_document_id_bytes));
    std::vector<bool> found;
    SEMRANK_ASSIGN_OR_RETURN(
        const std::uint32_t num_deleted,
        parts_.catalog->writer.Delete(keys_.Views(), found));
    response_.set_num_deleted(num_deleted);
    std::vector<ItemProblem> problems;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (!found[i]) problems.push_back(keys_.NotFound(i));
    }
    SetProblems(problems, response_);
    return Progress::kDone;
  }

 private:
  DocumentKeys keys_{"ids", "document_ids"};
};

}  // namespace

SEMRANK_DEFINE_HANDLER(GetDocuments, GetHandler)
SEMRANK_DEFINE_HANDLER(DeleteDocuments, DeleteHandler)

}  // namespace semrank
