#include "server/events/event_log.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "server/base/errors.h"
#include "server/base/logging.h"

namespace semrank {
namespace {

using Clock = std::chrono::steady_clock;

// A commit does not wait for more than this.
constexpr std::size_t kMaxGatheredBytes = std::size_t{1} << 20;
constexpr std::size_t kNumRemembered = 400'000;
// How often old files are looked for while no record comes.
constexpr absl::Duration kExpiryInterval = absl::Minutes(10);

absl::Status Unwritten(std::string_view reason) {
  return MakeError(absl::StatusCode::kUnavailable, "EVENTS_UNAVAILABLE",
                   absl::StrFormat("the report is not kept: %s", reason));
}

}  // namespace

EventLog::EventLog(std::unique_ptr<EventFiles> files, const KeyedHash& hash,
                   Options options, Metrics& metrics)
    : options_(std::move(options)),
      files_(std::move(files)),
      hash_(hash),
      counters_(metrics),
      impressions_(kNumRemembered),
      events_(kNumRemembered),
      writer_([this] { Run(); }) {}

EventLog::~EventLog() {
  {
    const MutexLock lock(mutex_);
    ending_ = true;
  }
  changed_.NotifyAll();
  writer_.join();
}

void EventLog::Protect(const EventNames& names, Impression& impression) const {
  impression.user = hash_(HashedKind::kUser, names.user);
  impression.session = hash_(HashedKind::kSession, names.session);
  if (options_.text == EventText::kHash) {
    impression.query_hash = hash_(HashedKind::kQuery, impression.query);
  }
  if (options_.text != EventText::kFull) impression.query.clear();
}

// The line is made before the lock is taken. A dropped impression is not
// remembered, so that clicks on it count as orphans.
std::string EventLog::AddImpression(Impression impression,
                                    std::uint32_t list_length) {
  impression.id = RandomImpressionId();
  impression.time_ms = absl::ToUnixMillis(now());
  std::string line;
  AppendLine(impression, line);
  {
    const MutexLock lock(mutex_);
    if (!Queue(line, /*num_impressions=*/1)) {
      counters_.CountImpressions(1, /*written=*/false);
      return std::move(impression.id);
    }
  }
  impressions_.Add(impression.id, list_length);
  return std::move(impression.id);
}

void EventLog::AddReport(EventReport report, Done done) {
  ReportOutcome outcome;
  DropDuplicates(report, outcome);
  std::string lines;
  for (const Impression& impression : report.impressions) {
    AppendLine(impression, lines);
    impressions_.Add(impression.id,
                     static_cast<std::uint32_t>(impression.results.size()));
  }
  for (const Event& event : report.events) {
    AppendLine(event, lines);
    if (!FindListLength(event.impression).has_value()) ++outcome.num_orphans;
  }
  outcome.num_accepted = static_cast<std::uint32_t>(report.events.size() +
                                                    report.impressions.size());
  if (outcome.num_accepted == 0) {
    counters_.CountDuplicates(outcome.num_duplicates);
    return done(outcome);
  }
  {
    const MutexLock lock(mutex_);
    if (Queue(lines, static_cast<std::int64_t>(report.impressions.size()))) {
      queue_.reports.push_back(
          {std::move(report.events), outcome, std::move(done)});
      changed_.NotifyOne();
      return;
    }
  }
  counters_.CountUnwrittenReport();
  done({.status = Unwritten("too much waits to be written")});
}

// An id is remembered when its event is on disk: a repetition before that is
// written twice, rather than not at all if the first one fails.
void EventLog::DropDuplicates(EventReport& report,
                              ReportOutcome& outcome) const {
  absl::flat_hash_set<std::string> ids;
  outcome.num_duplicates = static_cast<std::uint32_t>(
      std::erase_if(report.events, [&](const Event& event) {
        return !event.id.empty() && (events_.Find(event.id).has_value() ||
                                     !ids.insert(event.id).second);
      }));
}

bool EventLog::Queue(std::string_view lines, std::int64_t num_impressions) {
  if (queue_.lines.size() + lines.size() > options_.max_queue_bytes) {
    return false;
  }
  if (queue_.lines.empty()) {
    queue_.first_at = Clock::now();
    changed_.NotifyOne();
  }
  queue_.lines += lines;
  queue_.num_impressions += num_impressions;
  return true;
}

void EventLog::Run() {
  Batch batch;
  while (TakeBatch(batch)) {
    Commit(batch);
    batch.lines.clear();  // keeps its memory for the next one
    batch.reports.clear();
    batch.num_impressions = 0;
  }
}

bool EventLog::TakeBatch(Batch& batch) {
  const MutexLock lock(mutex_);
  if (queue_.lines.empty() && !ending_) {
    changed_.WaitFor(mutex_, absl::ToChronoNanoseconds(kExpiryInterval));
  }
  while (!ending_ && !queue_.lines.empty() &&
         TimeToCommit() > std::chrono::nanoseconds(0)) {
    changed_.WaitFor(mutex_, TimeToCommit());
  }
  std::swap(batch, queue_);
  return !batch.lines.empty() || !ending_;
}

std::chrono::nanoseconds EventLog::TimeToCommit() const {
  if (queue_.lines.size() >= kMaxGatheredBytes) {
    return std::chrono::nanoseconds(0);
  }
  const absl::Duration delay = queue_.reports.empty()
                                   ? options_.impression_delay
                                   : options_.report_delay;
  return queue_.first_at + absl::ToChronoNanoseconds(delay) - Clock::now();
}

void EventLog::Commit(Batch& batch) {
  if (!batch.lines.empty()) {
    const absl::Status status = Write(batch);
    NoteResult(status);
    Acknowledge(status, batch);
  }
  const absl::Status removed = files_->RemoveOld(now());
  if (!removed.ok()) {
    Log(LogLevel::kWarning,
        absl::StrFormat("old events stay: %s", removed.message()),
        removal_errors_);
  }
}

absl::Status EventLog::Write(const Batch& batch) {
  SEMRANK_RETURN_IF_ERROR(files_->Append(batch.lines, now()));
  const MutexLock lock(mutex_);
  last_commit_time_ = absl::FromChrono(Clock::now() - batch.first_at);
  return absl::OkStatus();
}

void EventLog::NoteResult(const absl::Status& status) {
  {
    const MutexLock lock(mutex_);
    if (failing_ == !status.ok()) return;
    failing_ = !status.ok();
  }
  if (status.ok()) {
    LogInfo("events are written to %s again", folder());
  } else {
    LogWarning("events are lost, and reports fail: %s", status.message());
  }
}

// Counts and remembers before it answers, so that a caller that reports at once
// again is known.
void EventLog::Acknowledge(const absl::Status& status, Batch& batch) {
  counters_.CountImpressions(batch.num_impressions, status.ok());
  for (WaitingReport& report : batch.reports) {
    if (status.ok()) {
      for (const Event& event : report.events) {
        counters_.CountEvent(event);
        if (!event.id.empty()) events_.Add(event.id, 0);
      }
      counters_.CountOrphans(report.outcome.num_orphans);
      counters_.CountDuplicates(report.outcome.num_duplicates);
    } else {
      counters_.CountUnwrittenReport();
      report.outcome = {.status = Unwritten("the disk is full or fails")};
    }
    report.done(report.outcome);
  }
}

std::int64_t EventLog::num_queued_bytes() const {
  const MutexLock lock(mutex_);
  return static_cast<std::int64_t>(queue_.lines.size());
}

absl::Duration EventLog::last_commit_time() const {
  const MutexLock lock(mutex_);
  return last_commit_time_;
}

bool EventLog::is_failing() const {
  const MutexLock lock(mutex_);
  return failing_;
}

}  // namespace semrank
