#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "semrank/v1/catalog_service.pb.h"
#include "server/base/errors.h"
#include "server/catalog/search/catalog_searcher.h"
#include "server/catalog/sync/catalog_writer.h"
#include "server/requests/handlers.h"
#include "server/requests/impressions.h"
#include "server/requests/message_fields.h"
#include "server/requests/wire_reader.h"

namespace semrank {
namespace {

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
  // Makes one list in the order in which results are numbered: first the ids,
  // then the names, whatever their order on the wire.
  std::vector<DocumentKeyView> Views() const {
    std::vector<DocumentKeyView> views(ids_.begin(), ids_.end());
    views.insert(views.end(), names_.begin(), names_.end());
    return views;
  }
  // DOCUMENT_NOT_FOUND for key i.
  ItemProblem NotFound(std::size_t i) const {
    const bool by_number = i < ids_.size();
    return {static_cast<std::uint32_t>(i),
            DocumentNotFound(ItemName(by_number ? ids_field_ : names_field_,
                                      by_number ? i : i - ids_.size()))};
  }

 private:
  const std::string_view ids_field_;
  const std::string_view names_field_;
  std::vector<std::uint64_t> ids_;
  std::vector<std::string_view> names_;
};

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
  void AddDocuments(std::vector<float>& rows);

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
  AddDocuments(rows);
  if (with_vectors_) {
    const ServedModelPtr served = snapshot_.model();
    SetVectors(rows, served->model->embedding_dim(), encoding_, response_);
    SetModel(*served, response_);
  }
  // No limit bounds the sum of the payloads, so 10,000 of them may exceed what
  // clients accept as one message. The sum is known only now.
  const auto max_bytes =
      static_cast<std::size_t>(MaxResponseBytes(parts_.limits));
  if (response_.ByteSizeLong() > max_bytes) {
    return FieldError(
        "INVALID_FIELD", "ids",
        absl::StrFormat("the documents are more than the %d bytes of the "
                        "largest response; ask for fewer at once",
                        max_bytes));
  }
  return Progress::kDone;
}

void GetHandler::AddDocuments(std::vector<float>& rows) {
  std::vector<ItemProblem> problems;
  const std::vector<DocumentKeyView> keys = keys_.Views();
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
    if (!with_vectors_) continue;
    const std::vector<float> vector = snapshot_.vector(*slot);
    rows.insert(rows.end(), vector.begin(), vector.end());
  }
  SetProblems(problems, response_);
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

  // One commit for all keys, so a snapshot sees either all or none of them.
  absl::StatusOr<Progress> RunSlice(const RequestRun& /*run*/) override {
    SEMRANK_RETURN_IF_ERROR(keys_.CheckNames());
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

class SearchHandler final : public HandlerOf<v1::SearchDocumentsResponse> {
 public:
  using HandlerOf::HandlerOf;

  absl::StatusOr<RequestSize> Read(std::string_view bytes) override;
  absl::StatusOr<Progress> RunSlice(const RequestRun& run) override;

 private:
  absl::Status ReadMessage(std::string_view bytes);
  void AddHits();
  void AddImpression();

  // `input_` refers to excluded_, and both refer to the request's bytes.
  DocumentKeys excluded_keys_{"exclude_ids", "exclude_document_ids"};
  std::vector<DocumentKeyView> excluded_;
  bool with_titles_ = false;
  bool with_payloads_ = false;
  ImpressionView impression_;
  SearchInput input_;
  bool begun_ = false;
  SearchResult result_;
  // Last, since it refers to input_ and result_; destroying it waits for
  // helpers.
  SearchState progress_;
};

// Begin takes the snapshot that the whole search reads. Its size decides how
// many permits the scan needs, so it comes before the check of the fields.
absl::StatusOr<RequestSize> SearchHandler::Read(std::string_view bytes) {
  SEMRANK_RETURN_IF_ERROR(ReadMessage(bytes));
  const std::int64_t num_permits = parts_.catalog->searcher.Begin(result_);
  SEMRANK_RETURN_IF_ERROR(parts_.catalog->searcher.Check(input_, result_));
  return RequestSize{num_permits, bytes.size()};
}

absl::Status SearchHandler::ReadMessage(std::string_view bytes) {
  using Request = v1::SearchDocumentsRequest;
  ModelRefView model;
  SEMRANK_RETURN_IF_ERROR(ReadFields<Request>(
      bytes, parts_.limits.max_texts_per_request,
      WireField(Request::kQueryFieldNumber, input_.query),
      WireField(Request::kTopKFieldNumber, input_.top_k),
      WireField(Request::kMinScoreFieldNumber, input_.min_score),
      WireField(Request::kExcludeIdsFieldNumber, excluded_keys_.ids()),
      WireField(Request::kExcludeDocumentIdsFieldNumber,
                excluded_keys_.names()),
      WireField(Request::kModelFieldNumber, model),
      WireField(Request::kWithTitlesFieldNumber, with_titles_),
      WireField(Request::kWithPayloadsFieldNumber, with_payloads_),
      WireField(Request::kPartsFieldNumber, input_.parts),
      WireField(Request::kWithPartsFieldNumber, input_.with_parts),
      WireField(Request::kFilterFieldNumber, input_.filter),
      WireField(Request::kOffsetFieldNumber, input_.offset),
      WireField(Request::kNameMatchFieldNumber, input_.name_match),
      WireField(Request::kImpressionFieldNumber, impression_)));
  input_.model_name = parts_.models->NameOf(model.name);
  input_.model_version = model.version;
  SEMRANK_RETURN_IF_ERROR(CheckImpression(impression_, parts_.events));
  return CheckModelName(model);
}

absl::StatusOr<Progress> SearchHandler::RunSlice(const RequestRun& run) {
  // Names are checked in the first slice, after admission. `excluded_` is
  // filled once and never resized, because input_.excluded views it.
  if (!std::exchange(begun_, true)) {
    SEMRANK_RETURN_IF_ERROR(excluded_keys_.CheckNames());
    excluded_ = excluded_keys_.Views();
    input_.excluded = excluded_;
  }
  SEMRANK_ASSIGN_OR_RETURN(
      const Progress progress,
      parts_.catalog->searcher.RunSlice(input_, run, parts_.workers, progress_,
                                        result_));
  if (progress == Progress::kMore) return progress;
  AddHits();
  if (impression_.is_wanted) AddImpression();
  response_.set_num_documents_searched(result_.num_documents_searched);
  const ServedModelPtr served = result_.snapshot.model();
  SetModel(*served, response_);
  response_.set_score_kind(served->model->config().score_kind());
  SetQueryKnown(result_.query_known, response_);
  SetTimings(run, result_.times, response_);
  return Progress::kDone;
}

// Titles and payloads are copied only for the hits that are returned, while the
// snapshot still holds their records.
void SearchHandler::AddHits() {
  for (const CatalogHit& hit : result_.hits) {
    const CatalogRecord& record = result_.snapshot.record(hit.slot);
    v1::DocumentHit& out = *response_.add_hits();
    SetKey(record.key(), out);
    out.set_score(hit.score);
    out.set_name_match(ToProto(hit.name));
    if (with_titles_) out.set_title(std::string(record.title()));
    if (with_payloads_) out.set_payload(std::string(record.payload()));
  }
  // There is one for each hit if the request asked for both parts, else none.
  for (std::size_t i = 0; i < result_.cosines.size(); ++i) {
    v1::DocumentHit& out = *response_.mutable_hits(static_cast<int>(i));
    out.set_semantic_score(result_.cosines[i].semantic);
    out.set_lexical_score(result_.cosines[i].lexical);
  }
}

void SearchHandler::AddImpression() {
  Impression impression = BeginImpression(
      impression_, input_.query, *result_.snapshot.model(), *parts_.events);
  const std::size_t length = result_.hits.size();
  for (std::size_t i = 0; i < std::min(length, kMaxShownResults); ++i) {
    const CatalogHit& hit = result_.hits[i];
    const CatalogRecord& record = result_.snapshot.record(hit.slot);
    impression.results.push_back({.document = NameOfDocument(record),
                                  .title = std::string(record.title()),
                                  .score = hit.score});
  }
  response_.set_impression_id(parts_.events->AddImpression(
      std::move(impression), static_cast<std::uint32_t>(length)));
}

}  // namespace

std::unique_ptr<RequestHandler> MakeGetDocumentsHandler(
    const ServerParts& parts) {
  return std::make_unique<GetHandler>(parts);
}
std::unique_ptr<RequestHandler> MakeDeleteDocumentsHandler(
    const ServerParts& parts) {
  return std::make_unique<DeleteHandler>(parts);
}
std::unique_ptr<RequestHandler> MakeSearchDocumentsHandler(
    const ServerParts& parts) {
  return std::make_unique<SearchHandler>(parts);
}

}  // namespace semrank
