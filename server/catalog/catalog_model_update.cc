#include "server/catalog/catalog_model_update.h"

#include "absl/cleanup/cleanup.h"
#include "absl/status/statusor.h"
#include "model/base/status_macros.h"
#include "server/vectors/text_batch.h"

namespace semrank {
namespace {

constexpr std::size_t kUpdateBatchDocuments = 256;

}  // namespace

absl::Status CatalogModelUpdate::Follow(
    const std::function<ServedModelPtr()>& current) {
  while (const ServedModelPtr model = current()) {
    SEMRANK_RETURN_IF_ERROR(catalog_.BeginModel(model));
    // One: it answers already, or the catalog was empty.
    if (catalog_.Models().size() < 2) break;
    SEMRANK_ASSIGN_OR_RETURN(const bool complete, Embed(model, current));
    if (!complete) continue;
    catalog_.FinishModel();
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> CatalogModelUpdate::Embed(
    const ServedModelPtr& model,
    const std::function<ServedModelPtr()>& current) {
  const absl::Cleanup over = [this] { num_documents_ = num_embedded_ = 0; };
  // Of documents that appear in later slots the puts take care.
  DocumentCatalog::Snapshot begin = catalog_.TakeSnapshot();
  const std::size_t num_slots = begin.num_slots();
  num_documents_ = begin.num_documents();
  store_status_ = absl::OkStatus();
  begin.Release();
  for (std::size_t slot = 0; slot < num_slots;) {
    SEMRANK_RETURN_IF_ERROR(CheckStillWanted(*this));
    if (current() != model) return false;
    SEMRANK_ASSIGN_OR_RETURN(slot, EmbedSome(model, slot));
  }
  return true;
}

absl::StatusOr<std::size_t> CatalogModelUpdate::EmbedSome(
    const ServedModelPtr& model, std::size_t first) {
  const DocumentCatalog::Snapshot snapshot = catalog_.TakeSnapshot();
  SliceScratch& scratch = ThreadSliceScratch();
  scratch.normalized.Clear();
  std::vector<std::uint32_t> slots;
  std::size_t slot = first;
  for (; slot < snapshot.num_slots() && slots.size() < kUpdateBatchDocuments;
       ++slot) {
    const auto number = static_cast<std::uint32_t>(slot);
    if (!snapshot.IsSeen(number)) continue;
    SEMRANK_RETURN_IF_ERROR(
        scratch.normalized.Add(snapshot.record(number).title()));
    slots.push_back(number);
  }
  scratch.rows.resize(slots.size() * model->model->embedding_dim());
  StageTimes times;
  SEMRANK_RETURN_IF_ERROR(embedder_.Embed({*model, *this, times},
                                          Side::kDocument, scratch.normalized,
                                          scratch.rows.data()));
  catalog_.AddRows(snapshot, slots, scratch.rows.data(),
                   [&](std::span<const std::size_t> live) {
                     WriteToStore(snapshot, *model, slots, scratch.rows.data(),
                                  live);
                   });
  num_embedded_ += slots.size();
  return slot;
}

void CatalogModelUpdate::WriteToStore(const DocumentCatalog::Snapshot& snapshot,
                                      const ServedModel& served,
                                      std::span<const std::uint32_t> slots,
                                      const float* rows,
                                      std::span<const std::size_t> live) {
  if (store_ == nullptr || live.empty() || !store_status_.ok()) return;
  const std::size_t dim = served.model->embedding_dim();
  std::vector<StoredDocument> documents;
  for (const std::size_t i : live) {
    documents.push_back(
        ToStoredDocument(served, snapshot.record(slots[i]), rows + i * dim));
  }
  store_status_ = store_->PutDocuments(documents);
}

}  // namespace semrank
