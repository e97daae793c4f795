// Keeps the catalog with what other servers put into the store that they share,
// and delete from it.
//
//   Promise  while the store answers, what another server has acknowledged is
//            found here within a second.
//   Work     a thread reads the log of changes and then the documents, as they
//            are by then: the last writer in the store's order wins everywhere.
//   Gaps     where the log may have lost a change, because it was trimmed or
//            because the store lost data, all documents are read again. The
//            store decides: what it does not have leaves the catalog.
//   Restart  the position in the log is in memory alone, since a server that
//            starts reads all documents anyway.
//   Errors   are logged and tried again after 100 ms, 200 ms, ... 1 s (10 s for
//            what time does not repair, as a full catalog); the catalog serves
//            what it has until then.
//   Threads  GetState from any; the others one at a time.
#ifndef SEMRANK_SERVER_CATALOG_SYNC_CHANGE_FOLLOWER_H_
#define SEMRANK_SERVER_CATALOG_SYNC_CHANGE_FOLLOWER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "model/base/mutex.h"
#include "server/catalog/sync/catalog_reconciler.h"
#include "server/stores/change_log.h"

namespace semrank {

class ChangeFollower {
 public:
  struct State {
    // When the catalog had all changes that the log had.
    absl::Time up_to_date_at = absl::InfinitePast();
    std::int64_t num_changed = 0;  // documents, because of other servers
    std::int64_t num_rereads = 0;
    // Why changes are not followed; OK = they are.
    absl::Status error = absl::OkStatus();
  };

  // `reconciler` outlives the follower.
  ChangeFollower(std::unique_ptr<ChangeLog> log, CatalogReconciler* reconciler)
      : log_(std::move(log)), reconciler_(*reconciler) {}
  ~ChangeFollower() { Stop(); }
  ChangeFollower(const ChangeFollower&) = delete;
  ChangeFollower& operator=(const ChangeFollower&) = delete;

  // What is changed from now on will be followed: to be called before the
  // catalog is loaded.
  absl::Status MarkStart();
  // Follows in a thread of its own, once the catalog is loaded.
  void Start();
  // Waits for what has begun.
  void Stop();

  // What that thread does again and again: waits for changes, `max_wait` at
  // most, and brings some of them into the catalog.
  absl::Status FollowOnce(absl::Duration max_wait);

  State GetState() const;

 private:
  void Run();
  absl::Status Reread();
  // Logs what is another error than the last, and the end of one.
  void Report(const absl::Status& status);
  // False once it is to stop.
  bool Pause(absl::Duration time);

  const std::unique_ptr<ChangeLog> log_;
  CatalogReconciler& reconciler_;
  const CatalogReconciler::Stop is_stopped_ = [this] { return stop_.load(); };
  std::string position_;  // empty = all documents are to be read
  bool at_end_ = true;    // there was no more to read
  std::atomic<bool> stop_ = false;
  mutable Mutex mutex_;
  CondVar stopped_;
  State state_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_SYNC_CHANGE_FOLLOWER_H_
