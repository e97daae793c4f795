#include "server/catalog/sync/catalog_model_update.h"

#include "absl/cleanup/cleanup.h"
#include "absl/status/statusor.h"
#include "model/base/status_macros.h"
#include "server/vectors/text_batch.h"

namespace semrank {
namespace {

constexpr std::size_t kUpdateBatchDocuments = 256;

}  // namespace

// Begins again when yet another model is published while the catalog is being
// embedded.
absl::Status CatalogModelUpdate::Follow(
    const std::function<ServedModelPtr()>& current) {
  while (const ServedModelPtr model = current()) {
    SEMRANK_RETURN_IF_ERROR(catalog_.BeginModel(model));
    // One: it answers already, or the catalog was empty.
    if (catalog_.Models().size() < 2) break;
    const CommitNumber kept = catalog_.NextModelCommit();
    SEMRANK_ASSIGN_OR_RETURN(const bool complete, Embed(model, current));
    if (!complete) continue;
    catalog_.FinishModel();
    SEMRANK_RETURN_IF_ERROR(WriteKept(kept, current));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> CatalogModelUpdate::Embed(
    const ServedModelPtr& model,
    const std::function<ServedModelPtr()>& current) {
  const absl::Cleanup over = [this] { num_documents_ = num_embedded_ = 0; };
  // Of documents that appear in later slots the puts take care.
  CatalogSnapshot begin = catalog_.TakeSnapshot();
  const std::size_t num_slots = begin.num_slots();
  num_documents_ = begin.num_documents();
  store_status_ = absl::OkStatus();
  begin.Release();
  const CommitNumber kept = catalog_.NextModelCommit();
  // A snapshot for each batch: one for all of them would keep every record that
  // leaves in the meantime.
  for (std::size_t slot = 0; slot < num_slots;) {
    SEMRANK_RETURN_IF_ERROR(CheckStillWanted(*this));
    if (current() != model) return false;
    const CatalogSnapshot snapshot = catalog_.TakeSnapshot();
    const std::vector<std::uint32_t> slots = NextBatch(
        snapshot, slot, [&](CommitNumber created) { return created > kept; });
    SEMRANK_RETURN_IF_ERROR(EmbedBatch(model, snapshot, slots));
  }
  return true;
}

std::vector<std::uint32_t> CatalogModelUpdate::NextBatch(
    const CatalogSnapshot& snapshot, std::size_t& first,
    const std::function<bool(CommitNumber created)>& wanted) const {
  std::vector<std::uint32_t> slots;
  for (; first < snapshot.num_slots() && slots.size() < kUpdateBatchDocuments;
       ++first) {
    const auto slot = static_cast<std::uint32_t>(first);
    if (snapshot.IsVisible(slot) && wanted(snapshot.created_commit(slot))) {
      slots.push_back(slot);
    }
  }
  return slots;
}

absl::Status CatalogModelUpdate::EmbedBatch(
    const ServedModelPtr& model, const CatalogSnapshot& snapshot,
    std::span<const std::uint32_t> slots) {
  if (slots.empty()) return absl::OkStatus();
  SliceScratch& scratch = ThreadSliceScratch();
  scratch.normalized.Clear();
  for (const std::uint32_t slot : slots) {
    SEMRANK_RETURN_IF_ERROR(
        scratch.normalized.Add(snapshot.record(slot).title()));
  }
  scratch.rows.resize(slots.size() * model->model->embedding_dim());
  StageTimes times;
  SEMRANK_RETURN_IF_ERROR(embedder_.Embed({*model, *this, times},
                                          Side::kDocument, scratch.normalized,
                                          scratch.rows.data()));
  // Stored under the writer's lock, and live documents only: one that is
  // deleted since must not come back in the store.
  catalog_.AddRows(snapshot, slots, scratch.rows.data(),
                   [&](std::span<const std::size_t> current_slots) {
                     WriteToStore(snapshot, *model, slots, scratch.rows.data(),
                                  current_slots);
                   });
  num_embedded_ += slots.size();
  return absl::OkStatus();
}

absl::Status CatalogModelUpdate::WriteKept(
    CommitNumber commit, const std::function<ServedModelPtr()>& current) {
  if (store_ == nullptr) return absl::OkStatus();
  for (std::size_t slot = 0;;) {
    SEMRANK_RETURN_IF_ERROR(CheckStillWanted(*this));
    const CatalogSnapshot snapshot = catalog_.TakeSnapshot();
    if (slot >= snapshot.num_slots() || current() != snapshot.model()) break;
    const std::vector<std::uint32_t> slots =
        NextBatch(snapshot, slot,
                  [&](CommitNumber created) { return created <= commit; });
    // A copy: the store takes float32, whatever the catalog keeps.
    std::vector<float> rows;
    for (const std::uint32_t slot_of_row : slots) {
      const std::vector<float> row = snapshot.vector(slot_of_row);
      rows.insert(rows.end(), row.begin(), row.end());
    }
    catalog_.VisitCurrent(snapshot, slots,
                          [&](std::span<const std::size_t> current_slots) {
                            WriteToStore(snapshot, *snapshot.model(), slots,
                                         rows.data(), current_slots);
                          });
  }
  return absl::OkStatus();
}

void CatalogModelUpdate::WriteToStore(
    const CatalogSnapshot& snapshot, const ServedModel& served,
    std::span<const std::uint32_t> slots, const float* rows,
    std::span<const std::size_t> current_slots) {
  if (store_ == nullptr || current_slots.empty() || !store_status_.ok()) return;
  const std::size_t dim = served.model->embedding_dim();
  std::vector<StoredDocument> documents;
  for (const std::size_t i : current_slots) {
    documents.push_back(
        ToStoredDocument(served, snapshot.record(slots[i]), rows + i * dim));
  }
  // Vectors alone: what another server has put since must not be undone.
  store_status_ = store_->ReplaceVectors(documents);
}

}  // namespace semrank
