#include "server/catalog/sync/served_catalog.h"

#include "absl/time/clock.h"
#include "model/base/status_macros.h"
#include "server/base/logging.h"

namespace semrank {
namespace {

// Short, since a rollback is a pointer swap; a look costs a pointer.
constexpr absl::Duration kInterval = absl::Milliseconds(100);

}  // namespace

absl::StatusOr<std::unique_ptr<CatalogFollower>> CatalogFollower::Start(
    const ModelStore* models, ServedCatalog* catalog,
    const std::function<bool()>& stop) {
  std::unique_ptr<CatalogFollower> follower(
      new CatalogFollower(models, catalog));
  follower->Follow();
  const absl::Time start = absl::Now();
  SEMRANK_ASSIGN_OR_RETURN(const CatalogReconciler::Counts counts,
                           catalog->reconciler.Load(stop));
  if (counts.num_documents > 0) {
    LogInfo("catalog: %d documents in %s, %d of them embedded",
            counts.num_documents, absl::FormatDuration(absl::Now() - start),
            counts.num_embedded);
  }
  follower->task_ = std::make_unique<PeriodicTask>(
      kInterval, [self = follower.get()] { self->Follow(); });
  return follower;
}

CatalogFollower::~CatalogFollower() {
  catalog_.update.Stop();
  task_.reset();
}

void CatalogFollower::Follow() {
  const absl::Status status =
      catalog_.update.Follow([this] { return models_.current(); });
  const absl::Status& stored = catalog_.update.store_status();
  if (!stored.ok() && stored != logged_) {
    LogWarning("the next start embeds the catalog again: %s", stored.message());
  }
  logged_ = stored;
  if (status.ok() || absl::IsCancelled(status)) return;
  LogError("the catalog stays with its model: %s", status.message());
}

}  // namespace semrank
