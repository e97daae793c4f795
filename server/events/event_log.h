// Writes impressions and events to their sink in a thread of its own. Only a
// report waits for the sink, so that its caller knows that the events are kept.
//
//   Queue    records as the requests make them, at most `max_queue_bytes` of
//            memory. Beyond that impressions are dropped and reports fail.
//   Commit   one thread hashes names, makes lines of what is queued, and
//            appends them to the sink: 5 ms after the first report, 100 ms
//            after the first impression, or when a MiB is queued. Only the
//            impression that fills the MiB wakes the thread. A commit without
//            reports lets other threads use its core between lists, for at most
//            10 ms.
//   Sink     when it is full or cannot be reached, impressions are dropped and
//            reports fail; the next commit that succeeds ends this. When it
//            hangs, a report fails within `max_report_wait`, and further ones
//            at once.
//   Size     an impression beyond the limit of the sink is dropped, and a
//            report that has one is refused as a whole.
//   Privacy  users and sessions are written as keyed hashes, and the query as
//            Options::text says.
//   Memory   the queue twice, the lines of the largest commit, what the sink
//            copies of them, and 32 MB of EventMemory.
//   Threads  thread-safe.
#ifndef SEMRANK_SERVER_EVENTS_EVENT_LOG_H_
#define SEMRANK_SERVER_EVENTS_EVENT_LOG_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
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
#include "server/base/periodic_task.h"
#include "server/events/event_counters.h"
#include "server/events/event_memory.h"
#include "server/events/event_sink.h"
#include "server/events/record_writer.h"

namespace semrank {

// The names of user and session, as the caller has them.
struct EventNames {
  std::string_view user = {};
  std::string_view session = {};
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
    absl::Duration max_report_wait = absl::Seconds(5);
    std::size_t max_queue_bytes = std::size_t{32} << 20;
    std::function<absl::Time()> now = &absl::Now;
  };

  // Logs when writing fails and when it succeeds again. `metrics` must outlive
  // the log.
  EventLog(std::unique_ptr<EventSink> sink, const KeyedHash& hash,
           Options options, Metrics& metrics);
  // Writes what is queued.
  ~EventLog();
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  // Queues a list that this server has returned, of `list_length` results, and
  // returns its new id. The time is now. User, session and query are those of
  // the caller. Drops and counts it if the queue is full.
  std::string AddImpression(Impression impression, std::uint32_t list_length);

  // Queues the report; `done` is called once, by another thread or before
  // AddReport returns. UNAVAILABLE EVENTS_UNAVAILABLE if it could not be
  // written, or was not in time: then it may be written later. INVALID_ARGUMENT
  // if a record is beyond the limit of the sink. Events whose id is remembered
  // are not written.
  using Done = std::function<void(const ReportOutcome& outcome)>;
  void AddReport(EventReport report, Done done);

  // The length of the list of a remembered impression.
  std::optional<std::uint32_t> FindListLength(std::string_view id) const {
    return memory_.FindListLength(id);
  }

  absl::Time now() const { return options_.now(); }
  const EventCounters& counters() const { return counters_; }
  const std::string& sink_name() const { return sink_->name(); }
  std::int64_t num_sink_bytes() const { return sink_->num_bytes(); }
  // Records that were dropped or refused because of their size.
  std::int64_t num_too_large() const { return records_.num_too_large(); }
  std::int64_t num_queued_bytes() const;
  // How long the first record of the last commit waited until it was kept.
  absl::Duration last_commit_time() const;
  // Whether the last commit failed, or the present one hangs.
  bool is_failing() const;

 private:
  using TimePoint = std::chrono::steady_clock::time_point;

  struct QueuedImpression {
    Impression impression;
    bool fits = true;  // into the sink
  };
  struct QueuedReport {
    EventReport report;
    ReportOutcome outcome;
  };
  // What one commit writes.
  struct Batch {
    std::vector<QueuedImpression> impressions;  // of this server
    std::vector<QueuedReport> reports;
    std::size_t num_bytes = 0;
    TimePoint first_at = {};

    bool empty() const { return impressions.empty() && reports.empty(); }
    // Keeps the memory of the vectors.
    void Clear();
  };
  // A caller that waits. The callers have the order of their reports.
  struct Waiting {
    TimePoint since;
    Done done;  // null = was answered because the sink hangs
  };

  // False if the queue has no room for `num_bytes`. Wakes the writer
  // when there is enough for a commit.
  bool Reserve(std::size_t num_bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // OK, or why a report is refused at once.
  absl::Status Queue(EventReport& report, const ReportOutcome& outcome,
                     Done& done) ABSL_LOCKS_EXCLUDED(mutex_);
  // Whether the present commit takes longer than a report may wait.
  bool IsHanging() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::string HangingReason() const;
  std::chrono::nanoseconds TimeToCommit(TimePoint idle_until) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run();
  // Waits until there is something to write, and gathers more. False = the log
  // ends.
  bool TakeBatch(Batch& batch);
  void Commit(Batch& batch);
  void RemoveOld();
  // Logs the first failure and the first success after one.
  void EndCommit(const absl::Status& status, TimePoint first_at);
  void LogChange(const absl::Status& status) const;
  void Acknowledge(const absl::Status& status, const Batch& batch);
  void AcknowledgeReport(const absl::Status& status,
                         const QueuedReport& queued);
  // The caller that waits longest; null = it was answered before.
  Done TakeFirstWaiting();
  // Answers callers that have waited too long.
  void EndLongWaits();

  const Options options_;
  const std::unique_ptr<EventSink> sink_;
  EventCounters counters_;
  EventMemory memory_;
  LogThrottle removal_errors_{/*max_lines_per_second=*/1};
  RecordWriter records_;  // of the writer

  mutable Mutex mutex_;
  CondVar changed_;
  Batch queue_ ABSL_GUARDED_BY(mutex_);
  // The callers of the queued reports and of those that are being written.
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  // nullopt = no commit is in progress.
  std::optional<TimePoint> commit_began_ ABSL_GUARDED_BY(mutex_);
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Duration last_commit_time_ ABSL_GUARDED_BY(mutex_);
  bool failing_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread writer_;  // after what it uses
  PeriodicTask watch_;  // ends first, but after the writer
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_EVENTS_EVENT_LOG_H_
