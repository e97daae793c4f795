// Applies the puts and deletes of other servers in a shared store to the
// catalog.
//
//   Promise  while the store answers, what another server has acknowledged is
//            found here within a second.
//   Work     a thread reads the log of changes and then the documents, as they
//            are by then: the last writer in the store's order wins everywhere.
//   Gaps     when the log may have lost a change, because it was trimmed or the
//            store lost data, all documents are read again. The store decides:
//            documents that it does not have are deleted from the catalog.
//   Restart  the position in the log is in memory only, because a server that
//            starts reads all documents anyway.
//   Errors   are logged and retried after 100 ms, 200 ms, ... 1 s (10 s for
//            what time does not repair, such as a full catalog). The catalog
//            serves what it has until then.
//   Threads  GetState is thread-safe; the others are called by one thread at a
//            time.
#ifndef SEMRANK_SERVER_CATALOG_SYNC_CHANGE_FOLLOWER_H_
#define SEMRANK_SERVER_CATALOG_SYNC_CHANGE_FOLLOWER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "model/base/mutex.h"
#include "server/catalog/sync/catalog_reconciler.h"
#include "server/stores/document_store.h"

namespace semrank {

class ChangeFollower {
 public:
  struct State {
    // The last time at which the catalog had all changes of the log.
    absl::Time up_to_date_at = absl::InfinitePast();
    std::int64_t num_changed = 0;  // documents that other servers changed
    std::int64_t num_rereads = 0;
    // OK while changes are followed, else why they are not.
    absl::Status error = absl::OkStatus();
  };

  // `reconciler` must outlive the follower.
  ChangeFollower(std::unique_ptr<ChangeLog> log, CatalogReconciler* reconciler)
      : log_(std::move(log)), reconciler_(*reconciler) {}
  ~ChangeFollower() { Stop(); }
  ChangeFollower(const ChangeFollower&) = delete;
  ChangeFollower& operator=(const ChangeFollower&) = delete;

  // Marks the point in the log from which changes are followed. Must be called
  // before the catalog is loaded.
  absl::Status MarkStart();
  // Starts the thread. Must be called after the catalog is loaded.
  void Start();
  // Stops the thread, after the step that it runs.
  void Stop();

  // One step of the thread: waits for changes, at most `max_wait`, and applies
  // some of them.
  absl::Status FollowOnce(absl::Duration max_wait);

  State GetState() const;

 private:
  void Run();
  absl::Status Reread();
  // Logs an error that differs from the last one, and the end of an error.
  void Report(const absl::Status& status);
  // Returns false when Stop has been called.
  bool Pause(absl::Duration time) {
    return !stop_.WaitForNotificationWithTimeout(time);
  }

  const std::unique_ptr<ChangeLog> log_;
  CatalogReconciler& reconciler_;
  const CatalogReconciler::Stop is_stopped_ = [this] {
    return stop_.HasBeenNotified();
  };
  std::string position_;  // empty = read all documents
  bool at_end_ = true;    // the last read reached the end
  absl::Notification stop_;
  mutable Mutex mutex_;
  State state_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_SYNC_CHANGE_FOLLOWER_H_
