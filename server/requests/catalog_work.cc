#include "server/requests/catalog_work.h"

#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "server/base/errors.h"

namespace semrank {
namespace {

using v1::DeleteDocumentsRequest;
using v1::Document;
using v1::GetDocumentsRequest;
using v1::SearchDocumentsRequest;

static_assert(int{v1::PutDocumentsRequest::kDocumentsFieldNumber} ==
              int{v1::PutDocumentsStreamRequest::kDocumentsFieldNumber});

void ReadDocumentField(WireReader& reader, NewDocument& document) {
  std::uint64_t id = 0;
  std::string_view name;
  switch (reader.field()) {
    case Document::kIdFieldNumber:
      if (reader.ReadFixed64(id)) document.key = id;
      return;
    case Document::kDocumentIdFieldNumber:
      if (reader.Read(name)) document.key = name;
      return;
    case Document::kTitleFieldNumber:
      reader.Read(document.title);
      return;
    case Document::kPayloadFieldNumber:
      reader.Read(document.payload);
      return;
    default:
      reader.Skip();
  }
}

absl::Status CheckNotEmpty(const DocumentKeys& keys) {
  if (keys.size() > 0) return absl::OkStatus();
  return FieldError("NO_DOCUMENTS", "ids", "the request has no key");
}

}  // namespace

absl::StatusOr<RequestSize> PutSteps::Read(
    std::string_view bytes, const google::protobuf::Descriptor& type) {
  WireReader reader(bytes, parts_.limits().max_texts_per_request);
  while (reader.Next()) {
    if (reader.field() == v1::PutDocumentsRequest::kDocumentsFieldNumber) {
      reader.Append(documents_, [&](NewDocument& document) {
        ReadDocumentField(reader, document);
      });
    } else {
      reader.Skip();
    }
  }
  SEMRANK_RETURN_IF_ERROR(reader.Finish(type));
  return RequestSize{static_cast<std::int64_t>(documents_.size()),
                     bytes.size()};
}

// Fails the call, as a message fails that Protobuf's own parser reads.
absl::Status PutSteps::CheckTexts() const {
  for (std::size_t i = 0; i < documents_.size(); ++i) {
    const NewDocument& document = documents_[i];
    SEMRANK_RETURN_IF_ERROR(
        CheckUtf8(ItemName("documents", i) + ".title", document.title));
    if (!document.key.has_value()) continue;
    const auto* const name = std::get_if<std::string_view>(&*document.key);
    if (name == nullptr) continue;
    SEMRANK_RETURN_IF_ERROR(
        CheckUtf8(ItemName("documents", i) + ".document_id", *name));
  }
  return absl::OkStatus();
}

template <typename Response>
absl::StatusOr<Progress> PutSteps::Advance(const RequestRun& run,
                                           Response& response) {
  if (!std::exchange(checked_, true)) SEMRANK_RETURN_IF_ERROR(CheckTexts());
  SEMRANK_ASSIGN_OR_RETURN(
      const Progress progress,
      parts_.catalog_writer->PutSlice(documents_, run, progress_, result_));
  if (progress == Progress::kMore) return progress;
  response.set_num_created(result_.counts.num_created);
  response.set_num_replaced(result_.counts.num_replaced);
  SetProblems(result_.problems, response);
  SetModel(*result_.model, response);
  run.AddOwnTimes(result_.times);
  SetTimings(result_.times, run.TimeSinceReceived(),
             *response.mutable_timings());
  return Progress::kDone;
}

absl::StatusOr<RequestSize> PutWork::Read(std::string_view bytes) {
  SEMRANK_ASSIGN_OR_RETURN(
      const RequestSize size,
      steps_.Read(bytes, *v1::PutDocumentsRequest::descriptor()));
  if (size.num_texts > 0) return size;
  return FieldError("NO_DOCUMENTS", "documents", "the request has no document");
}

absl::StatusOr<Progress> PutWork::Advance(const RequestRun& run) {
  return steps_.Advance(run, response_);
}

absl::StatusOr<RequestSize> StreamedPutWork::Read(std::string_view bytes) {
  return steps_.Read(bytes, *v1::PutDocumentsStreamRequest::descriptor());
}

absl::StatusOr<Progress> StreamedPutWork::Advance(const RequestRun& run) {
  SEMRANK_ASSIGN_OR_RETURN(const Progress progress,
                           steps_.Advance(run, response_));
  if (progress == Progress::kMore) return progress;
  response_.set_first_document(num_before_);
  num_before_ += steps_.num_documents();
  return Progress::kDone;
}

absl::Status DocumentKeys::CheckNames() const {
  for (std::size_t i = 0; i < names_.size(); ++i) {
    SEMRANK_RETURN_IF_ERROR(CheckUtf8(ItemName(names_field_, i), names_[i]));
  }
  return absl::OkStatus();
}

std::vector<DocumentKeyView> DocumentKeys::Views() const {
  std::vector<DocumentKeyView> views(ids_.begin(), ids_.end());
  views.insert(views.end(), names_.begin(), names_.end());
  return views;
}

ItemProblem DocumentKeys::NotFound(std::size_t i) const {
  const bool by_number = i < ids_.size();
  return {static_cast<std::uint32_t>(i),
          DocumentNotFound(ItemName(by_number ? ids_field_ : names_field_,
                                    by_number ? i : i - ids_.size()))};
}

absl::StatusOr<RequestSize> GetWork::Read(std::string_view bytes) {
  std::int32_t encoding = 0;
  ModelRefView model;
  WireReader reader(bytes, parts_.limits().max_texts_per_request);
  while (reader.Next()) {
    switch (reader.field()) {
      case GetDocumentsRequest::kIdsFieldNumber:
        keys_.AppendIds(reader);
        break;
      case GetDocumentsRequest::kDocumentIdsFieldNumber:
        keys_.AppendNames(reader);
        break;
      case GetDocumentsRequest::kWithPayloadsFieldNumber:
        reader.Read(with_payloads_);
        break;
      case GetDocumentsRequest::kWithVectorsFieldNumber:
        reader.Read(with_vectors_);
        break;
      case GetDocumentsRequest::kEncodingFieldNumber:
        reader.Read(encoding);
        break;
      case GetDocumentsRequest::kModelFieldNumber:
        ReadModelRef(reader, model);
        break;
      default:
        reader.Skip();
    }
  }
  SEMRANK_RETURN_IF_ERROR(reader.Finish(*GetDocumentsRequest::descriptor()));
  SEMRANK_RETURN_IF_ERROR(CheckNotEmpty(keys_));
  SEMRANK_RETURN_IF_ERROR(CheckModelName(model));
  snapshot_ = parts_.catalog_writer->catalog().TakeSnapshot();
  if (with_vectors_) {
    SEMRANK_RETURN_IF_ERROR(CheckVectors(model, encoding));
    if (encoding != v1::VECTOR_ENCODING_UNSPECIFIED) {
      encoding_ = static_cast<v1::VectorEncoding>(encoding);
    }
  }
  return RequestSize{static_cast<std::int64_t>(keys_.size()), bytes.size()};
}

absl::Status GetWork::CheckVectors(const ModelRefView& model,
                                   std::int32_t encoding) const {
  SEMRANK_RETURN_IF_ERROR(
      CheckCatalogModel(model.name, model.version, snapshot_.model()));
  SEMRANK_RETURN_IF_ERROR(
      CheckEnum("encoding", encoding, v1::VectorEncoding_IsValid));
  if (snapshot_.model()->model->embedding_dim() > 0) return absl::OkStatus();
  return FieldError("INVALID_FIELD", "with_vectors",
                    "the catalog's model has no vectors");
}

absl::StatusOr<Progress> GetWork::Advance(const RequestRun& /*run*/) {
  SEMRANK_RETURN_IF_ERROR(keys_.CheckNames());
  std::vector<float> rows;
  AddDocuments(rows);
  if (with_vectors_) {
    const ServedModelPtr served = snapshot_.model();
    SetVectors(rows, served->model->embedding_dim(), encoding_, response_);
    SetModel(*served, response_);
  }
  const auto max_bytes =
      static_cast<std::size_t>(MaxResponseBytes(parts_.limits()));
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
  const std::vector<DocumentKeyView> keys = keys_.Views();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto slot = snapshot_.Find(keys[i]);
    if (!slot.has_value()) {
      problems.push_back(keys_.NotFound(i));
      continue;
    }
    const CatalogRecord& record = snapshot_.record(*slot);
    v1::Document& out = *response_.add_documents();
    SetKey(record.key(), out);
    out.set_title(std::string(record.title()));
    if (with_payloads_) out.set_payload(std::string(record.payload()));
    if (!with_vectors_) continue;
    const float* const row = snapshot_.vector(*slot);
    rows.insert(rows.end(), row,
                row + snapshot_.model()->model->embedding_dim());
  }
  SetProblems(problems, response_);
}

absl::StatusOr<RequestSize> DeleteWork::Read(std::string_view bytes) {
  WireReader reader(bytes, parts_.limits().max_texts_per_request);
  while (reader.Next()) {
    switch (reader.field()) {
      case DeleteDocumentsRequest::kIdsFieldNumber:
        keys_.AppendIds(reader);
        break;
      case DeleteDocumentsRequest::kDocumentIdsFieldNumber:
        keys_.AppendNames(reader);
        break;
      default:
        reader.Skip();
    }
  }
  SEMRANK_RETURN_IF_ERROR(reader.Finish(*DeleteDocumentsRequest::descriptor()));
  SEMRANK_RETURN_IF_ERROR(CheckNotEmpty(keys_));
  return RequestSize{static_cast<std::int64_t>(keys_.size()), bytes.size()};
}

absl::StatusOr<Progress> DeleteWork::Advance(const RequestRun& /*run*/) {
  SEMRANK_RETURN_IF_ERROR(keys_.CheckNames());
  std::vector<bool> found;
  SEMRANK_ASSIGN_OR_RETURN(const std::uint32_t num_deleted,
                           parts_.catalog_writer->Delete(keys_.Views(), found));
  response_.set_num_deleted(num_deleted);
  std::vector<ItemProblem> problems;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!found[i]) problems.push_back(keys_.NotFound(i));
  }
  SetProblems(problems, response_);
  return Progress::kDone;
}

absl::StatusOr<RequestSize> SearchWork::Read(std::string_view bytes) {
  SEMRANK_RETURN_IF_ERROR(ReadMessage(bytes));
  const std::int64_t num_permits = parts_.catalog_searcher->Begin(result_);
  SEMRANK_RETURN_IF_ERROR(parts_.catalog_searcher->Check(input_, result_));
  return RequestSize{num_permits, bytes.size()};
}

absl::Status SearchWork::ReadMessage(std::string_view bytes) {
  ModelRefView model;
  WireReader reader(bytes, parts_.limits().max_texts_per_request);
  while (reader.Next()) {
    switch (reader.field()) {
      case SearchDocumentsRequest::kQueryFieldNumber:
        reader.Read(input_.query);
        break;
      case SearchDocumentsRequest::kTopKFieldNumber:
        reader.Read(input_.top_k);
        break;
      case SearchDocumentsRequest::kMinScoreFieldNumber:
        reader.Read(input_.min_score);
        break;
      case SearchDocumentsRequest::kExcludeIdsFieldNumber:
        excluded_keys_.AppendIds(reader);
        break;
      case SearchDocumentsRequest::kExcludeDocumentIdsFieldNumber:
        excluded_keys_.AppendNames(reader);
        break;
      case SearchDocumentsRequest::kModelFieldNumber:
        ReadModelRef(reader, model);
        break;
      case SearchDocumentsRequest::kWithTitlesFieldNumber:
        reader.Read(with_titles_);
        break;
      case SearchDocumentsRequest::kWithPayloadsFieldNumber:
        reader.Read(with_payloads_);
        break;
      default:
        reader.Skip();
    }
  }
  SEMRANK_RETURN_IF_ERROR(reader.Finish(*SearchDocumentsRequest::descriptor()));
  input_.model_name = model.name;
  input_.model_version = model.version;
  return CheckModelName(model);
}

absl::StatusOr<Progress> SearchWork::Advance(const RequestRun& run) {
  if (!std::exchange(begun_, true)) {
    SEMRANK_RETURN_IF_ERROR(excluded_keys_.CheckNames());
    excluded_ = excluded_keys_.Views();
    input_.excluded = excluded_;
  }
  SEMRANK_ASSIGN_OR_RETURN(
      const Progress progress,
      parts_.catalog_searcher->RunSlice(input_, run, parts_.workers, progress_,
                                        result_));
  if (progress == Progress::kMore) return progress;
  AddHits();
  response_.set_num_documents_searched(result_.num_documents_searched);
  const ServedModelPtr served = result_.snapshot.model();
  SetModel(*served, response_);
  response_.set_score_kind(served->model->config().score_kind());
  run.AddOwnTimes(result_.times);
  SetTimings(result_.times, run.TimeSinceReceived(),
             *response_.mutable_timings());
  return Progress::kDone;
}

void SearchWork::AddHits() {
  for (const CatalogHit& hit : result_.hits) {
    const CatalogRecord& record = result_.snapshot.record(hit.slot);
    v1::DocumentHit& out = *response_.add_hits();
    SetKey(record.key(), out);
    out.set_score(hit.score);
    if (with_titles_) out.set_title(std::string(record.title()));
    if (with_payloads_) out.set_payload(std::string(record.payload()));
  }
}

}  // namespace semrank
