#include "server/catalog/sync/synced_catalog.h"

#include <utility>

#include "absl/time/clock.h"
#include "model/base/status_macros.h"
#include "server/base/logging.h"

namespace semrank {
namespace {

// Short, because a rollback is a pointer swap; each look costs only a pointer
// comparison.
constexpr absl::Duration kModelWatchInterval = absl::Milliseconds(100);

std::unique_ptr<ChangeFollower> FollowerOf(DocumentStore* store,
                                           CatalogReconciler* reconciler) {
  std::unique_ptr<ChangeLog> log =
      store == nullptr ? nullptr : store->OpenChangeLog();
  if (log == nullptr) return nullptr;
  return std::make_unique<ChangeFollower>(std::move(log), reconciler);
}

}  // namespace

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
  FollowModel(*models);
  const absl::Time start = absl::Now();
  SEMRANK_ASSIGN_OR_RETURN(const CatalogReconciler::Counts counts,
                           reconciler.Load(stop));
  if (counts.num_documents > 0) {
    LogInfo("catalog: %d documents in %s, %d of them embedded",
            counts.num_documents, absl::FormatDuration(absl::Now() - start),
            counts.num_embedded);
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
  const absl::Status status =
      update.Follow([&models] { return models.current(); });
  const absl::Status& stored = update.store_status();
  if (!stored.ok() && stored != logged_) {
    LogWarning("the next start embeds the catalog again: %s", stored.message());
  }
  logged_ = stored;
  if (status.ok() || absl::IsCancelled(status)) return;
  LogError("the catalog stays with its model: %s", status.message());
}

}  // namespace semrank
