#include "server/catalog/sync/catalog_writer.h"

#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "server/base/errors.h"
#include "server/models/model_store.h"
#include "server/vectors/text_batch.h"

namespace semrank {
namespace {

bool IsOver(std::string_view bytes, std::int64_t limit) {
  return bytes.size() > static_cast<std::size_t>(limit);
}

// A damaged store has a reason of its own, because it needs an operator; a
// store that cannot be reached needs patience.
absl::Status FromStore(const absl::Status& status) {
  if (status.ok()) return status;
  const bool damaged = absl::IsDataLoss(status);
  return MakeError(
      damaged ? absl::StatusCode::kDataLoss : absl::StatusCode::kUnavailable,
      damaged ? "STORE_DAMAGED" : "STORE_UNAVAILABLE",
      absl::StrFormat("nothing was changed: %s", status.message()));
}

}  // namespace

absl::Status CatalogWriter::CheckDocument(const NewDocument& document,
                                          std::size_t i) const {
  const std::string item = ItemName("documents", i);
  if (!document.key.has_value()) {
    return FieldError("INVALID_FIELD", item + ".key",
                      "is not set: give an id or a document_id");
  }
  const auto* const name = std::get_if<std::string_view>(&*document.key);
  if (name != nullptr && name->empty()) {
    return FieldError("INVALID_FIELD", item + ".document_id", "is empty");
  }
  if (name != nullptr && IsOver(*name, limits_.max_document_id_bytes)) {
    return TooLong("DOCUMENT_ID_TOO_LONG", item + ".document_id", name->size(),
                   limits_.max_document_id_bytes, "max_document_id_bytes");
  }
  if (IsTooLong(document.title, limits_)) {
    return TextTooLong(item + ".title", document.title.size(),
                       limits_.max_text_bytes);
  }
  if (IsOver(document.payload, limits_.max_payload_bytes)) {
    return TooLong("PAYLOAD_TOO_LONG", item + ".payload",
                   document.payload.size(), limits_.max_payload_bytes,
                   "max_payload_bytes");
  }
  return CheckTags(item + ".tags", document.tags, kMaxTagsPerDocument);
}

// Each slice checks and copies some documents and embeds some under each model
// of the catalog, which has two while a new model is prepared. The last slice
// commits all documents at once.
absl::StatusOr<Progress> CatalogWriter::PutSlice(
    std::span<const NewDocument> documents, const Caller& caller,
    PutState& state, PutResult& result) const {
  if (!state.begun) {
    state.begun = true;
    state.models.clear();
    for (ServedModelPtr& model : catalog_.Models()) {
      state.models.push_back({std::move(model), {}});
    }
    if (state.models.empty()) return NoModelYet();
  }
  SEMRANK_RETURN_IF_ERROR(CheckStillWanted(caller));
  AddRecords(documents, state, result);
  SEMRANK_RETURN_IF_ERROR(EmbedRecords(caller, state, result));
  if (state.next_document < documents.size() ||
      state.num_embedded < state.records.size()) {
    return Progress::kMore;
  }
  const absl::Status committed = Commit(state, result);
  if (absl::IsAborted(committed)) {
    // A next model was added: compute the vectors again, with that one too. The
    // records stay.
    state.begun = false;
    state.num_embedded = 0;
    return Progress::kMore;
  }
  SEMRANK_RETURN_IF_ERROR(committed);
  // Each problem is that of one document, which was not put.
  metrics_.CountDocumentsPut(documents.size() - result.problems.size());
  RecordPhases(result.times, metrics_);
  return Progress::kDone;
}

void CatalogWriter::AddRecords(std::span<const NewDocument> documents,
                               PutState& state, PutResult& result) const {
  Stopwatch clock;
  const std::size_t last =
      SliceEnd(state.next_document, documents.size(),
               [&](std::size_t i) { return documents[i].title.size(); });
  for (; state.next_document < last; ++state.next_document) {
    const std::size_t i = state.next_document;
    absl::Status status = CheckDocument(documents[i], i);
    if (!status.ok()) {
      result.problems.push_back(
          {static_cast<std::uint32_t>(i), std::move(status)});
      continue;
    }
    const NewDocument& document = documents[i];
    // This copies the document, because records outlive the request's bytes.
    state.records.push_back(CatalogRecord::Make(*document.key, document.title,
                                                document.payload,
                                                PackTags(document.tags)));
  }
  result.times[Phase::kParse] += clock.Lap();
}

absl::Status CatalogWriter::EmbedRecords(const Caller& caller, PutState& state,
                                         PutResult& result) const {
  SliceScratch& scratch = ThreadSliceScratch();
  const std::size_t first = state.num_embedded;
  const std::size_t last =
      SliceEnd(first, state.records.size(),
               [&](std::size_t i) { return state.records[i]->title().size(); });
  const auto records = std::span(state.records).subspan(first, last - first);
  for (PutState::ModelRows& of_model : state.models) {
    Stopwatch clock;
    // Each model has its own rules for words.
    scratch.normalized.Clear();
    for (const CatalogRecord::Pointer& record : records) {
      const absl::Status valid = scratch.normalized.Add(
          record->title(), of_model.model->model->normalizer_version());
      // Does not happen to callers that check their texts.
      if (!valid.ok()) return InvalidUtf8("documents", valid);
    }
    result.times[Phase::kParse] += clock.Lap();
    const std::size_t dim = of_model.model->model->embedding_dim();
    // Grows with each slice, so that the memory of a large put grows with its
    // progress.
    of_model.rows.resize(last * dim);
    SEMRANK_RETURN_IF_ERROR(embedder_.Embed(
        {*of_model.model, caller, result.times}, Side::kDocument,
        scratch.normalized, of_model.rows.data() + first * dim));
  }
  state.num_embedded = last;
  return absl::OkStatus();
}

absl::Status CatalogWriter::Commit(PutState& state, PutResult& result) const {
  Stopwatch clock;
  std::vector<DocumentCatalog::Rows> rows;
  for (const PutState::ModelRows& of_model : state.models) {
    rows.push_back({of_model.model, of_model.rows.data()});
  }
  SEMRANK_ASSIGN_OR_RETURN(
      result.counts,
      catalog_.Put(state.records, rows, [&] { return WriteToStore(state); }));
  result.times[Phase::kCache] += clock.Lap();
  return absl::OkStatus();
}

// Runs inside the commit, so the store has the commits in the order of the
// catalog.
absl::Status CatalogWriter::WriteToStore(const PutState& state) const {
  if (store_ == nullptr) return absl::OkStatus();
  // The newest model's vectors, because the next start needs these.
  const PutState::ModelRows& newest = state.models.back();
  const std::size_t dim = newest.model->model->embedding_dim();
  std::vector<StoredDocument> documents;
  for (std::size_t i = 0; i < state.records.size(); ++i) {
    documents.push_back(ToStoredDocument(*newest.model, *state.records[i],
                                         newest.rows.data() + i * dim));
  }
  return FromStore(store_->PutDocuments(documents));
}

absl::StatusOr<std::uint32_t> CatalogWriter::Delete(
    std::span<const DocumentKeyView> keys, std::vector<bool>& found) const {
  SEMRANK_ASSIGN_OR_RETURN(const std::uint32_t num_deleted,
                           catalog_.Delete(keys, found, [&]() -> absl::Status {
                             if (store_ == nullptr) return absl::OkStatus();
                             return FromStore(store_->DeleteDocuments(keys));
                           }));
  metrics_.CountDocumentsDeleted(num_deleted);
  return num_deleted;
}

}  // namespace semrank
