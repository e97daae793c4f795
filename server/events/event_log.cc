#include "server/events/event_log.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/random_id.h"
#include "model/base/strings.h"
#include "server/base/errors.h"
#include "server/base/logging.h"

// Three threads meet here. A request puts its record into queue_ and returns.
// The writer swaps queue_ for an empty batch, makes lines of the batch and
// appends them to the sink without holding the mutex. It then updates the
// counters and EventMemory and answers the callers. The watch thread answers
// callers that have waited too long, because the writer may hang in the sink.
// waiting_ holds the callers in the order of their reports, which is the order
// in which the writer answers.
namespace semrank {
namespace {

using Clock = std::chrono::steady_clock;

// A commit does not wait for more than this.
constexpr std::size_t kMaxGatheredBytes = std::size_t{1} << 20;
// Waits that are too long are looked for this many times in max_report_wait.
constexpr int kLooksPerWait = 20;
// How often the writer looks for records while the queue is empty.
constexpr std::chrono::milliseconds kIdleLook(100);
// For how long a commit yields its core. A writer that always did so would fall
// behind where all cores are busy.
constexpr std::chrono::milliseconds kYieldTime(10);
// How often old files are looked for while no record comes.
constexpr absl::Duration kExpiryInterval = absl::Minutes(10);

// Linux does not take the core from a thread that has just woken up: a request
// that is ready on the core of the writer would wait for the whole batch.
void YieldBefore(Clock::time_point end) {
  if (Clock::now() < end) std::this_thread::yield();
}

// About the memory of a record with its texts.
std::size_t NumBytes(const Impression& impression) {
  std::size_t sum = sizeof(impression) + impression.id.size() +
                    impression.query.size() + impression.user.size() +
                    impression.session.size();
  for (const ShownResult& result : impression.results) {
    sum += sizeof(result) + result.document.size() + result.title.size();
  }
  return sum;
}
std::size_t NumBytes(const EventReport& report) {
  std::size_t sum = sizeof(report);
  for (const Event& event : report.events) {
    sum += sizeof(event) + event.id.size() + event.impression.size() +
           event.kind.size() + event.document.size();
  }
  for (const Impression& impression : report.impressions) {
    sum += NumBytes(impression);
  }
  return sum;
}

absl::Status Unwritten(std::string_view reason) {
  return MakeError(absl::StatusCode::kUnavailable, "EVENTS_UNAVAILABLE",
                   absl::StrFormat("the report is not kept: %s", reason));
}

}  // namespace

EventLog::EventLog(std::unique_ptr<EventSink> sink, const KeyedHash& hash,
                   Options options, Metrics& metrics)
    : options_(std::move(options)),
      sink_(std::move(sink)),
      counters_(metrics),
      memory_(metrics),
      records_(*sink_, hash, options_.text),
      writer_([this] { Run(); }),
      watch_(options_.max_report_wait / kLooksPerWait,
             [this] { EndLongWaits(); }) {}

EventLog::~EventLog() {
  {
    const MutexLock lock(mutex_);
    ending_ = true;
  }
  changed_.NotifyAll();
  // The watch still runs here: if the last commit hangs, it answers the callers
  // that wait.
  writer_.join();
}

// What can be done later is done by the writer, so that a ranking costs hardly
// more. A dropped impression is not remembered, so that clicks on it count as
// orphans.
std::string EventLog::AddImpression(Impression impression,
                                    std::uint32_t list_length) {
  impression.id = MakeRandomId();
  impression.time_ms = absl::ToUnixMillis(now());
  std::string id = impression.id;
  const std::size_t num_bytes = NumBytes(impression);
  {
    const MutexLock lock(mutex_);
    if (!Reserve(num_bytes)) {
      counters_.CountImpressions(1, /*written=*/false);
      return id;
    }
    // Precedes the commit, which adds the list's ranker.
    memory_.AddList(id, list_length);
    queue_.impressions.push_back({std::move(impression)});
  }
  return id;
}

void EventLog::AddReport(EventReport report, Done done) {
  ReportOutcome outcome;
  outcome.num_duplicates = memory_.RemoveRepeated(report.events);
  // Precedes the check of the events: a report may have a list and the clicks
  // on it.
  for (const Impression& impression : report.impressions) {
    memory_.AddList(impression.id,
                    static_cast<std::uint32_t>(impression.results.size()));
  }
  for (const Event& event : report.events) {
    if (!FindListLength(event.impression).has_value()) ++outcome.num_orphans;
  }
  outcome.num_accepted = static_cast<std::uint32_t>(report.events.size() +
                                                    report.impressions.size());
  // All of its events were kept before, so the caller has nothing to wait for.
  if (outcome.num_accepted == 0) {
    counters_.CountDuplicates(outcome.num_duplicates);
    return done(outcome);
  }
  const absl::Status queued = Queue(report, outcome, done);
  if (queued.ok()) return;
  counters_.CountUnwrittenReport();
  done({.status = queued});
}

absl::Status EventLog::Queue(EventReport& report, const ReportOutcome& outcome,
                             Done& done) {
  const std::size_t num_bytes = NumBytes(report);
  const MutexLock lock(mutex_);
  // A report that is queued behind a commit that hangs would only wait for its
  // own time limit.
  if (IsHanging()) return Unwritten(HangingReason());
  if (!Reserve(num_bytes)) return Unwritten("too much waits to be written");
  // The first one hastens the commit.
  if (queue_.reports.empty()) changed_.NotifyOne();
  queue_.reports.push_back({std::move(report), outcome});
  waiting_.push_back({Clock::now(), std::move(done)});
  return absl::OkStatus();
}

bool EventLog::Reserve(std::size_t num_bytes) {
  if (queue_.num_bytes + num_bytes > options_.max_queue_bytes) return false;
  if (queue_.empty()) queue_.first_at = Clock::now();
  // Only the record that crosses the limit wakes the writer, since each wake-up
  // costs its request a system call.
  const bool was_enough = queue_.num_bytes >= kMaxGatheredBytes;
  queue_.num_bytes += num_bytes;
  if (!was_enough && queue_.num_bytes >= kMaxGatheredBytes) {
    changed_.NotifyOne();
  }
  return true;
}

bool EventLog::IsHanging() const {
  return commit_began_.has_value() &&
         Clock::now() - *commit_began_ >
             absl::ToChronoNanoseconds(options_.max_report_wait);
}

std::string EventLog::HangingReason() const {
  return absl::StrFormat("%s has not answered for %s", sink_->name(),
                         absl::FormatDuration(options_.max_report_wait));
}

void EventLog::Batch::Clear() {
  impressions.clear();
  reports.clear();
  num_bytes = 0;
}

void EventLog::Run() {
  Batch batch;
  while (TakeBatch(batch)) {
    if (!batch.empty()) Commit(batch);
    batch.Clear();
    RemoveOld();
  }
}

bool EventLog::TakeBatch(Batch& batch) {
  const TimePoint idle_until =
      Clock::now() + absl::ToChronoNanoseconds(kExpiryInterval);
  const MutexLock lock(mutex_);
  while (!ending_ && TimeToCommit(idle_until) > std::chrono::nanoseconds(0)) {
    changed_.WaitFor(mutex_, TimeToCommit(idle_until));
  }
  // `batch` is empty and keeps the memory of its vectors, which the next
  // records fill.
  std::swap(batch, queue_);
  if (!batch.empty()) commit_began_ = Clock::now();
  // After kExpiryInterval without records the batch is empty. Run then only
  // removes old files.
  return !batch.empty() || !ending_;
}

// While the queue is empty, the writer looks at it from time to time: a wake-up
// costs the request that makes it more than all the rest of its impression.
std::chrono::nanoseconds EventLog::TimeToCommit(TimePoint idle_until) const {
  const TimePoint now = Clock::now();
  const std::chrono::nanoseconds age = now - queue_.first_at;
  if (queue_.empty()) {
    return std::min<std::chrono::nanoseconds>(kIdleLook, idle_until - now);
  }
  if (queue_.num_bytes >= kMaxGatheredBytes) return {};
  // A caller waits for a commit with a report, so it comes soon; the delay
  // gathers the reports that arrive together, which then share one sync of the
  // disk. Each commit of impressions makes the requests of that moment slower,
  // so commits are rare.
  return absl::ToChronoNanoseconds(queue_.reports.empty()
                                       ? options_.impression_delay
                                       : options_.report_delay) -
         age;
}

void EventLog::Commit(Batch& batch) {
  records_.Clear();
  // The lines refer to ids in the batch, which stays until the sink has them.
  // A caller waits for each report, so a commit that has some never yields.
  const TimePoint yield_until =
      batch.reports.empty() ? Clock::now() + kYieldTime : TimePoint();
  for (auto& [impression, fits] : batch.impressions) {
    fits = records_.Add(impression);
    YieldBefore(yield_until);
  }
  for (auto& [report, outcome] : batch.reports) {
    outcome.status = records_.Add(report);
  }
  absl::Status status;
  if (records_.lines().empty()) {
    // Whether the sink works is as unknown as before.
    const MutexLock lock(mutex_);
    commit_began_.reset();
  } else {
    // The only call that may block, and no lock is held.
    status = sink_->Append(records_.lines(), now());
    EndCommit(status, batch.first_at);
  }
  Acknowledge(status, batch);
}

void EventLog::RemoveOld() {
  const absl::Status removed = sink_->RemoveOld(now());
  if (removed.ok()) return;
  Log(LogLevel::kWarning,
      absl::StrFormat("old events stay: %s", removed.message()),
      removal_errors_);
}

void EventLog::EndCommit(const absl::Status& status, TimePoint first_at) {
  bool has_changed = false;
  {
    const MutexLock lock(mutex_);
    commit_began_.reset();
    if (status.ok()) {
      last_commit_time_ = absl::FromChrono(Clock::now() - first_at);
    }
    has_changed = std::exchange(failing_, !status.ok()) == status.ok();
  }
  // Without the mutex, for which requests wait.
  if (has_changed) LogChange(status);
}

void EventLog::LogChange(const absl::Status& status) const {
  if (status.ok()) {
    LogInfo("events are written to %s again", sink_->name());
  } else {
    LogWarning("events are lost, and reports fail: %s", status.message());
  }
}

// Counts and remembers before it answers, so that a caller that reports at once
// again is known.
void EventLog::Acknowledge(const absl::Status& status, const Batch& batch) {
  for (const auto& [impression, fits] : batch.impressions) {
    const bool is_kept = status.ok() && fits;
    counters_.CountImpressions(1, is_kept);
    // Names of other systems could be any number of series, so lists that were
    // reported do not count.
    if (is_kept) memory_.OnKept(impression, now());
  }
  for (const QueuedReport& queued : batch.reports) {
    AcknowledgeReport(status, queued);
  }
}

void EventLog::AcknowledgeReport(const absl::Status& status,
                                 const QueuedReport& queued) {
  const auto& [report, outcome] = queued;
  const bool is_kept = status.ok() && outcome.status.ok();
  // A report that is refused as invalid loses no impressions: its caller still
  // has them.
  if (outcome.status.ok()) {
    counters_.CountImpressions(std::ssize(report.impressions), is_kept);
  }
  if (is_kept) {
    for (const Event& event : report.events) {
      counters_.CountEvent(event);
      memory_.OnKept(event);
    }
    counters_.CountOrphans(outcome.num_orphans);
    counters_.CountDuplicates(outcome.num_duplicates);
  }
  // The first caller is the one of this report. A report that is refused has
  // one too.
  const Done done = TakeFirstWaiting();
  if (done == nullptr) return;
  if (is_kept) return done(outcome);
  // The caller can change an invalid report. Only what follows is a failure of
  // the server and counts as one.
  if (!outcome.status.ok()) return done({.status = outcome.status});
  counters_.CountUnwrittenReport();
  done({.status = Unwritten(ToStd(status.message()))});
}

EventLog::Done EventLog::TakeFirstWaiting() {
  const MutexLock lock(mutex_);
  Done done = std::move(waiting_.front().done);
  waiting_.pop_front();
  return done;
}

// A caller that would exceed its wait before the next look is answered now.
void EventLog::EndLongWaits() {
  const absl::Duration max_wait =
      options_.max_report_wait / kLooksPerWait * (kLooksPerWait - 1);
  const TimePoint limit = Clock::now() - absl::ToChronoNanoseconds(max_wait);
  std::vector<Done> late;
  bool has_changed = false;
  {
    const MutexLock lock(mutex_);
    for (Waiting& waiting : waiting_) {
      if (waiting.since > limit) break;
      if (waiting.done == nullptr) continue;
      // The entry itself stays until the writer comes to its report; otherwise
      // the next caller would get the answer of this report.
      late.push_back(std::exchange(waiting.done, nullptr));
    }
    // A hanging commit is logged at once; EndCommit may come much later.
    has_changed = IsHanging() && !std::exchange(failing_, true);
  }
  if (has_changed) LogChange(absl::UnavailableError(HangingReason()));
  // Without the mutex, since `done` answers a request.
  for (const Done& done : late) {
    counters_.CountUnwrittenReport();
    done({.status = Unwritten(HangingReason())});
  }
}

std::int64_t EventLog::num_queued_bytes() const {
  const MutexLock lock(mutex_);
  return static_cast<std::int64_t>(queue_.num_bytes);
}

absl::Duration EventLog::last_commit_time() const {
  const MutexLock lock(mutex_);
  return last_commit_time_;
}

bool EventLog::is_failing() const {
  const MutexLock lock(mutex_);
  return failing_ || IsHanging();
}

}  // namespace semrank
