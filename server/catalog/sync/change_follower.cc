#include "server/catalog/sync/change_follower.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "model/base/count_text.h"
#include "model/base/status_macros.h"
#include "server/base/logging.h"

namespace semrank {
namespace {

// How long a stop waits at most, and how soon a loss of data in the store is
// noticed.
constexpr absl::Duration kMaxWait = absl::Milliseconds(250);
// Changes in quick succession are read together: a round trip for each would
// cost as much as the change itself.
constexpr absl::Duration kGatherTime = absl::Milliseconds(20);
constexpr absl::Duration kMinPause = absl::Milliseconds(100);
constexpr absl::Duration kMaxPause = absl::Seconds(1);
constexpr absl::Duration kMaxLastingPause = absl::Seconds(10);

// Whether trying again later may help.
bool IsTransient(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status);
}

}  // namespace

absl::Status ChangeFollower::MarkStart() {
  SEMRANK_ASSIGN_OR_RETURN(position_, log_->MarkEnd());
  return absl::OkStatus();
}

void ChangeFollower::Start() {
  {
    const MutexLock lock(mutex_);
    // The documents have just been loaded, and the metric of the lag needs a
    // begin.
    state_.up_to_date_at = absl::Now();
  }
  thread_ = std::thread([this] { Run(); });
}

void ChangeFollower::Stop() {
  // A Notification may be given once only.
  if (!is_stopped_()) stop_.Notify();
  if (thread_.joinable()) thread_.join();
}

void ChangeFollower::Run() {
  absl::Duration pause = kMinPause;
  while (!is_stopped_()) {
    const std::string begin = position_;
    const absl::Status status = FollowOnce(kMaxWait);
    if (absl::IsCancelled(status)) return;
    Report(status);
    if (status.ok()) {
      pause = kMinPause;
      if (position_ != begin && at_end_ && !Pause(kGatherTime)) return;
      continue;
    }
    // The pause doubles with each failure in a row. It stays short where time
    // helps, since callers wait for changes of other servers.
    if (!Pause(pause)) return;
    pause =
        std::min(2 * pause, IsTransient(status) ? kMaxPause : kMaxLastingPause);
  }
}

absl::Status ChangeFollower::FollowOnce(absl::Duration max_wait) {
  // After an error that reading the changes again would not repair.
  if (position_.empty()) return Reread();
  absl::StatusOr<ChangeLog::Changes> changes =
      log_->ReadAfter(position_, max_wait);
  if (absl::IsOutOfRange(changes.status())) {
    LogWarning("changes of the catalog may be lost: %s",
               changes.status().message());
    position_.clear();
    return Reread();
  }
  SEMRANK_RETURN_IF_ERROR(changes.status());
  std::int64_t num_changed = 0;
  if (!changes->keys.empty()) {
    const absl::StatusOr<CatalogReconciler::Counts> counts =
        reconciler_.Refresh(std::move(changes->keys), *log_, is_stopped_);
    if (counts.ok()) {
      num_changed = counts->num_put + counts->num_deleted;
    } else if (absl::IsDataLoss(counts.status())) {
      // Trying again would not help, and the other documents have been applied.
      LogError("documents that another server changed were not applied: %s",
               counts.status().message());
    } else {
      // Reading all documents may repair what time does not.
      if (!IsTransient(counts.status())) position_.clear();
      return counts.status();
    }
  }
  // Only now, so that after an error the changes are read again; applying them
  // twice does no harm.
  position_ = std::move(changes->position);
  at_end_ = changes->at_end;
  // The mutex guards what GetState reads; position_ belongs to this thread.
  const MutexLock lock(mutex_);
  state_.num_changed += num_changed;
  if (changes->at_end) state_.up_to_date_at = absl::Now();
  return absl::OkStatus();
}

absl::Status ChangeFollower::Reread() {
  // As at the start, the mark comes before the documents are read.
  SEMRANK_ASSIGN_OR_RETURN(std::string position, log_->MarkEnd());
  SEMRANK_ASSIGN_OR_RETURN(const CatalogReconciler::Counts counts,
                           reconciler_.Reread(is_stopped_));
  position_ = std::move(position);
  LogWarning(
      "the catalog was read again: %s, %s of them new or changed, %s others "
      "deleted",
      CountText(static_cast<std::int64_t>(counts.num_documents), "document"),
      GroupDigits(static_cast<std::int64_t>(counts.num_put)),
      GroupDigits(static_cast<std::int64_t>(counts.num_deleted)));
  const MutexLock lock(mutex_);
  state_.num_changed += counts.num_put + counts.num_deleted;
  ++state_.num_rereads;
  return absl::OkStatus();
}

void ChangeFollower::Report(const absl::Status& status) {
  absl::Status last;
  {
    const MutexLock lock(mutex_);
    last = std::exchange(state_.error, status);
  }
  if (status.ok() && !last.ok()) {
    LogInfo("changes of other servers are followed again");
  }
  if (!status.ok() && status != last) {
    LogWarning("changes of other servers are not followed: %s",
               status.message());
  }
}

ChangeFollower::State ChangeFollower::GetState() const {
  const MutexLock lock(mutex_);
  return state_;
}

}  // namespace semrank
