// Writes impressions and events to the folder of --events, behind the requests:
// no request waits for the disk but a report, whose caller is to know that it
// is kept.
//
//   Queue    one text of finished lines, at most `max_queue_bytes`. Beyond that
//            impressions are dropped and reports fail.
//   Commit   one thread writes what is queued as one frame and syncs it: 5 ms
//            after the first report, 100 ms after the first impression, or when
//            a MiB is queued. While a frame is written the next one gathers.
//   Disk     when it is full, impressions are dropped and reports fail; the
//            next commit that succeeds ends this.
//   Privacy  users and sessions are written as keyed hashes, and the query as
//            Options::text says.
//   Memory   the queue twice, and the latest ids (RecentIds): 32 MB of the two
//            kinds together.
//   Threads  thread-safe.
#ifndef SEMRANK_SERVER_EVENTS_EVENT_LOG_H_
#define SEMRANK_SERVER_EVENTS_EVENT_LOG_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "model/base/mutex.h"
#include "model/events/event.h"
#include "model/events/keyed_hash.h"
#include "server/base/log_throttle.h"
#include "server/base/metrics.h"
#include "server/events/event_counters.h"
#include "server/events/event_files.h"
#include "server/events/recent_ids.h"

namespace semrank {

// How queries are kept.
enum class EventText { kFull, kHash, kNone };

// The names of user and session, as the caller has them.
struct EventNames {
  std::string_view user = {};
  std::string_view session = {};
};

// What one call reports.
struct EventReport {
  std::vector<Event> events = {};
  std::vector<Impression> impressions = {};  // with ids; names are hashed
};

struct ReportOutcome {
  absl::Status status = {};
  std::uint32_t num_accepted = 0;    // events and impressions
  std::uint32_t num_orphans = 0;     // among the accepted events
  std::uint32_t num_duplicates = 0;  // events that were not accepted
};

class EventLog {
 public:
  struct Options {
    EventText text = EventText::kFull;
    absl::Duration report_delay = absl::Milliseconds(5);
    absl::Duration impression_delay = absl::Milliseconds(100);
    std::size_t max_queue_bytes = std::size_t{32} << 20;
    std::function<absl::Time()> now = &absl::Now;
  };

  // Logs when writing fails and when it succeeds again. `metrics` must outlive
  // the log.
  EventLog(std::unique_ptr<EventFiles> files, const KeyedHash& hash,
           Options options, Metrics& metrics);
  // Writes what is queued.
  ~EventLog();
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  // Hashes the names, and applies Options::text to the query.
  void Protect(const EventNames& names, Impression& impression) const;

  // Queues a list that this server has returned, of `list_length` results, and
  // returns its new id. The time is now. Drops and counts it if the queue is
  // full.
  std::string AddImpression(Impression impression, std::uint32_t list_length);

  // Queues the report; `done` is called once, by the writer or before AddReport
  // returns. UNAVAILABLE EVENTS_UNAVAILABLE if it could not be written. Events
  // whose id is remembered are not written.
  using Done = std::function<void(const ReportOutcome& outcome)>;
  void AddReport(EventReport report, Done done);

  // The length of the list of a remembered impression.
  std::optional<std::uint32_t> FindListLength(std::string_view id) const {
    return impressions_.Find(id);
  }

  absl::Time now() const { return options_.now(); }
  const EventCounters& counters() const { return counters_; }
  const std::string& folder() const { return files_->folder(); }
  std::int64_t num_disk_bytes() const { return files_->num_bytes(); }
  std::int64_t num_queued_bytes() const;
  // How long the first record of the last commit waited until it was on disk.
  absl::Duration last_commit_time() const;
  // Whether the last commit failed.
  bool is_failing() const;

 private:
  struct WaitingReport {
    std::vector<Event> events;
    ReportOutcome outcome;
    Done done;
  };
  // What one commit writes.
  struct Batch {
    std::string lines;
    std::vector<WaitingReport> reports;
    std::int64_t num_impressions = 0;
    std::chrono::steady_clock::time_point first_at = {};  // of `lines`
  };

  // Removes events that are remembered, or whose id the report has twice.
  void DropDuplicates(EventReport& report, ReportOutcome& outcome) const;
  // False, and nothing is queued, if the queue is full.
  bool Queue(std::string_view lines, std::int64_t num_impressions)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::chrono::nanoseconds TimeToCommit() const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run();
  // Waits until there is something to write, and gathers more. False = the log
  // ends.
  bool TakeBatch(Batch& batch);
  void Commit(Batch& batch);
  absl::Status Write(const Batch& batch);
  // Logs the first failure and the first success after one.
  void NoteResult(const absl::Status& status);
  void Acknowledge(const absl::Status& status, Batch& batch);

  const Options options_;
  const std::unique_ptr<EventFiles> files_;
  const KeyedHash hash_;
  EventCounters counters_;
  RecentIds impressions_;
  RecentIds events_;
  LogThrottle removal_errors_{/*max_lines_per_second=*/1};

  mutable Mutex mutex_;
  CondVar changed_;
  Batch queue_ ABSL_GUARDED_BY(mutex_);
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Duration last_commit_time_ ABSL_GUARDED_BY(mutex_);
  bool failing_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread writer_;  // last: it uses the rest
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_EVENTS_EVENT_LOG_H_
