#include "server/catalog/sync/synced_catalog.h"

#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/time/clock.h"
#include "model/base/count_text.h"
#include "model/base/status_macros.h"
#include "server/base/logging.h"
#include "server/vectors/text_batch.h"

namespace semrank {
namespace {

constexpr std::size_t kUpdateBatchDocuments = 256;

// Short, because a rollback is a pointer swap; each look costs only a pointer
// comparison.
constexpr absl::Duration kModelWatchInterval = absl::Milliseconds(100);

// Until the catalog tries to move to a model again that it could not move to.
constexpr absl::Duration kFailedModelPause = absl::Seconds(10);

std::unique_ptr<ChangeFollower> FollowerOf(DocumentStore* store,
                                           CatalogReconciler* reconciler) {
  std::unique_ptr<ChangeLog> log =
      store == nullptr ? nullptr : store->OpenChangeLog();
  if (log == nullptr) return nullptr;
  return std::make_unique<ChangeFollower>(std::move(log), reconciler);
}

}  // namespace

absl::Status CatalogModelUpdate::Follow(
    const std::function<ServedModelPtr()>& current) {
  while (const ServedModelPtr model = current()) {
    SEMRANK_RETURN_IF_ERROR(catalog_.BeginModel(model));
    // With one model, it answers already: the catalog had its vectors, or no
    // documents.
    if (catalog_.Models().size() < 2) break;
    const CommitNumber kept = catalog_.NextModelCommit();
    SEMRANK_ASSIGN_OR_RETURN(const bool complete, Embed(model, current));
    // Another model was published in the meantime: start again with that one.
    if (!complete) continue;
    // Every document has vectors of both models here: Embed added the missing
    // ones of the older documents, and puts added those of the later ones.
    catalog_.FinishModel();
    SEMRANK_RETURN_IF_ERROR(WriteKept(kept, current));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> CatalogModelUpdate::Embed(
    const ServedModelPtr& model,
    const std::function<ServedModelPtr()>& current) {
  const absl::Cleanup end_progress = [this] {
    num_documents_ = num_embedded_ = 0;
  };
  // Documents in later slots are put after this, with vectors of both models.
  CatalogSnapshot begin = catalog_.TakeSnapshot();
  const std::size_t num_slots = begin.num_slots();
  const CommitNumber kept = catalog_.NextModelCommit();
  for (std::uint32_t slot = 0; slot < num_slots; ++slot) {
    if (begin.IsVisible(slot) && begin.created_commit(slot) > kept) {
      ++num_documents_;
    }
  }
  begin.Release();
  // One refused batch ends the writes of this update, not those of the next.
  store_status_ = absl::OkStatus();
  // One snapshot a batch: a single one would keep every record that is removed
  // in the meantime.
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
    SEMRANK_RETURN_IF_ERROR(scratch.normalized.Add(
        snapshot.record(slot).title(), model->model->normalizer_version()));
  }
  scratch.rows.resize(slots.size() * model->model->embedding_dim());
  PhaseTimes times;
  SEMRANK_RETURN_IF_ERROR(embedder_.Embed({*model, *this, times},
                                          Side::kDocument, scratch.normalized,
                                          scratch.rows.data()));
  // Under the writer's lock, and only for current documents: one that was
  // deleted must not come back in the store.
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
    // Stores take float32, whatever format the catalog has.
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
  // After a failure the rest is left out: the next start embeds what the store
  // lacks, and each call could take the store's whole time limit.
  if (store_ == nullptr || current_slots.empty() || !store_status_.ok()) return;
  const std::size_t dim = served.model->embedding_dim();
  std::vector<StoredDocument> documents;
  for (const std::size_t i : current_slots) {
    documents.push_back(
        ToStoredDocument(served, snapshot.record(slots[i]), rows + i * dim));
  }
  // Only the vectors: what another server has put since must not be undone.
  store_status_ = store_->ReplaceVectors(documents);
}

SyncedCatalog::SyncedCatalog(std::size_t max_documents,
                             const CatalogWriter::Options& options)
    : documents(max_documents),
      writer(&documents, options),
      searcher(options.limits, &documents, options.embedder, options.metrics),
      update(&documents, options.embedder, options.store),
      reconciler(&documents, options.embedder, options.store),
      changes_(FollowerOf(options.store, &reconciler)) {}

absl::Status SyncedCatalog::Start(const ModelStore* models,
                                  const std::function<bool()>& stop) {
  // The mark comes before the load: what other servers change while the
  // documents are read follows it in the log.
  if (changes_ != nullptr) SEMRANK_RETURN_IF_ERROR(changes_->MarkStart());
  // The catalog needs a model before it loads documents, whose vectors are
  // those of the model.
  FollowModel(*models);
  const absl::Time start = absl::Now();
  SEMRANK_ASSIGN_OR_RETURN(const CatalogReconciler::Counts counts,
                           reconciler.Load(stop));
  if (counts.num_documents > 0) {
    LogInfo(
        "catalog: %s in %s, %s of them embedded",
        CountText(static_cast<std::int64_t>(counts.num_documents), "document"),
        absl::FormatDuration(absl::Now() - start),
        GroupDigits(static_cast<std::int64_t>(counts.num_embedded)));
  }
  model_watch_ = std::make_unique<PeriodicTask>(
      kModelWatchInterval, [this, models] { FollowModel(*models); });
  if (changes_ != nullptr) changes_->Start();
  return absl::OkStatus();
}

void SyncedCatalog::Stop() {
  // First, since the destructor of the task waits for an update that runs.
  update.Stop();
  model_watch_.reset();
  if (changes_ != nullptr) changes_->Stop();
}

void SyncedCatalog::FollowModel(const ModelStore& models) {
  // A model that failed most likely fails again, for instance without memory,
  // and each try delays puts.
  const ServedModelPtr current = models.current();
  if (failed_model_ != nullptr && failed_model_ == current &&
      absl::Now() - failed_at_ < kFailedModelPause) {
    return;
  }
  const absl::Status status =
      update.Follow([&models] { return models.current(); });
  const absl::Status& stored = update.store_status();
  if (!stored.ok() && stored != logged_) {
    LogWarning("the next start embeds the catalog again: %s", stored.message());
  }
  logged_ = stored;
  failed_model_ = nullptr;
  if (status.ok() || absl::IsCancelled(status)) return;
  failed_model_ = current;
  failed_at_ = absl::Now();
  LogError("the catalog cannot move to the new model: %s", status.message());
}

}  // namespace semrank
