#include "client/load/load.h"

#include <grpcpp/completion_queue.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/random/random.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "client/load/load_connection.h"
#include "model/base/interrupt.h"
#include "model/base/mutex.h"
#include "model/base/status_macros.h"
#include "model/cli/progress.h"

namespace semrank {
namespace {

using Clock = std::chrono::steady_clock;

// A call sent later than this was delayed by the client itself.
constexpr absl::Duration kLate = absl::Milliseconds(1);
// How often a run without events looks for Ctrl-C and updates its progress.
constexpr std::chrono::milliseconds kPollInterval(50);

Clock::duration ToClock(absl::Duration duration) {
  return absl::ToChronoNanoseconds(duration);
}

// Each call in flight holds its request, perhaps twice (the message and its
// bytes), and about kCallBytes for a response and what gRPC needs.
constexpr std::size_t kMaxInflightBytes = std::size_t{1} << 30;
constexpr std::size_t kCallBytes = std::size_t{16} << 10;

constexpr int kNumGenerated = 1'000;

// Different titles of about 50 bytes from a fixed vocabulary, the same in each
// run.
std::vector<std::string> GenerateTitles() {
  constexpr std::array<std::string_view, 20> kWords = {
      "photo",   "editor",  "network",  "viewer",   "desktop",
      "library", "manager", "system",   "graphics", "sound",
      "server",  "client",  "terminal", "database", "language",
      "package", "monitor", "player",   "security", "documents"};
  std::vector<std::string> titles;
  for (std::size_t i = 0; i < kNumGenerated; ++i) {
    titles.push_back(absl::StrFormat(
        "%s %s for the %s and %s with %s %d", kWords[i % 20],
        kWords[i / 20 % 20], kWords[(3 * i + 7) % 20],
        kWords[(7 * i + 11) % 20], kWords[(11 * i + i / 400) % 20], i));
  }
  return titles;
}

LoadRequestOptions WithTitles(LoadRequestOptions options) {
  if (options.titles.empty()) options.titles = GenerateTitles();
  return options;
}

// With a rate, one thread sends and one handles responses. Else one thread does
// both.
//
// The phases of a run: warm-up, which sends but does not count; measurement,
// from begin_ to end_; and what is then still in flight, until its deadline.
class LoadRun {
 public:
  LoadRun(const ClientOptions& client, const LoadOptions& options,
          LoadRequests& requests)
      : options_(options), deadline_(client.deadline), requests_(requests) {
    const auto on_response = [this](LoadCall& call) { OnResponse(call); };
    // A stream ends one deadline after the run, when its last calls are over.
    const absl::Time end =
        absl::Now() + options.warmup + options.duration + client.deadline;
    for (int i = 0; i < options.connections; ++i) {
      connections_.push_back(
          options.stream
              ? LoadConnection::MakeStream(client, &queue_, on_response, end)
              : LoadConnection::MakeUnary(client, &queue_, on_response));
    }
  }

  LoadReport Run();

 private:
  bool Over(Clock::time_point now) const {
    return now >= end_ || Interrupted();
  }
  // An unused call, or null if `inflight` calls are in flight.
  LoadCall* TakeIdle();
  void Send(Clock::time_point due, LoadCall& call);
  // Sleeps until then, or until the run is over.
  void WaitUntil(Clock::time_point due) const;
  void KeepRate();
  // Handles events until every call has its response.
  void HandleResponses();
  // Handles the next event, if one comes within kPollInterval.
  void HandleEvent();
  void OnResponse(LoadCall& call);
  void Count(const LoadCall& call);
  void CancelCalls();
  void CloseConnections();

  const LoadOptions options_;
  const absl::Duration deadline_;
  LoadRequests& requests_;
  grpc::CompletionQueue queue_;
  std::vector<std::unique_ptr<LoadConnection>> connections_;
  std::size_t next_connection_ = 0;
  Clock::time_point begin_, end_;  // of the measurement
  // The sender and the thread that handles responses write both.
  std::atomic<std::int64_t> num_in_flight_ = 0;
  std::atomic<bool> all_sent_ = false;
  std::int64_t num_late_ = 0, num_unsent_ = 0;
  std::int64_t num_counted_ = 0;  // calls of the measurement that ended
  LoadReport report_;

  Mutex mutex_;
  std::deque<LoadCall> calls_ ABSL_GUARDED_BY(mutex_);
  std::vector<LoadCall*> idle_ ABSL_GUARDED_BY(mutex_);
};

// Calls are reused, so that a measurement does not wait for the allocator.
LoadCall* LoadRun::TakeIdle() {
  const MutexLock lock(mutex_);
  if (!idle_.empty()) {
    LoadCall* const call = idle_.back();
    idle_.pop_back();
    return call;
  }
  if (static_cast<int>(calls_.size()) >= options_.inflight) return nullptr;
  return &calls_.emplace_back();
}

void LoadRun::Send(Clock::time_point due, LoadCall& call) {
  call.due = due;
  call.sent = Clock::now();
  ++num_in_flight_;
  connections_[next_connection_++ % connections_.size()]->Send(requests_.Next(),
                                                               call);
}

void LoadRun::WaitUntil(Clock::time_point due) const {
  // In steps: a signal may reach another thread, and then it does not end this
  // sleep.
  while (!Interrupted() && due - Clock::now() > kPollInterval) {
    std::this_thread::sleep_for(kPollInterval);
  }
  if (!Interrupted()) std::this_thread::sleep_until(due);
}

// Due times follow from the start and the rate alone. A call that is sent late
// does not delay the next ones, and its waiting counts in its latency.
void LoadRun::KeepRate() {
  const Clock::time_point start = begin_ - ToClock(options_.warmup);
  const std::chrono::duration<double> interval(1 / options_.rate);
  for (std::int64_t i = 0;; ++i) {
    const auto due = start + std::chrono::duration_cast<Clock::duration>(
                                 interval * static_cast<double>(i));
    if (Over(due)) break;
    WaitUntil(due);
    LoadCall* call = TakeIdle();
    while (call == nullptr && !Over(Clock::now())) {
      // Polling is precise enough: a call that waits here is late anyway.
      absl::SleepFor(kLate / 2);
      call = TakeIdle();
    }
    if (call == nullptr || Over(Clock::now())) {
      // Everything that was due counts as unsent, so that a stalled server
      // cannot improve its report. After Ctrl-C nothing more becomes due.
      const auto end = Interrupted() ? std::min(end_, Clock::now()) : end_;
      const std::chrono::duration<double> left = end - std::max(due, begin_);
      num_unsent_ = std::max(0LL, std::llround(left / interval));
      break;
    }
    if (absl::FromChrono(Clock::now() - due) > kLate && due >= begin_) {
      ++num_late_;
    }
    Send(due, *call);
  }
  // After the last Send has raised num_in_flight_, so that HandleResponses
  // cannot find 0 in flight too early.
  all_sent_ = true;
}

void LoadRun::Count(const LoadCall& call) {
  const Clock::time_point now = Clock::now();
  // With a rate, the calls that were due in the measurement count, also those
  // answered after it. Else the responses that came in it count, and later
  // failures: a server that stops answering must not look idle.
  const bool has_rate = options_.rate > 0;
  const bool counts = has_rate
                          ? call.due >= begin_
                          : now >= begin_ && (now <= end_ || !call.status.ok());
  if (!counts) return;
  ++num_counted_;
  if (has_rate) report_.lateness.Record(absl::FromChrono(call.sent - call.due));
  if (call.status.ok()) {
    const absl::Duration latency = absl::FromChrono(now - call.due);
    report_.latencies.Record(latency);
    if (latency <= deadline_) ++report_.num_in_time;
    return;
  }
  // CancelCalls ended it, not the server.
  if (Interrupted() && absl::IsCancelled(call.status)) return;
  if (absl::IsResourceExhausted(call.status)) {
    report_.refusals.Record(absl::FromChrono(now - call.sent));
  }
  ++report_.num_failed[call.status.code()];
  if (report_.first_failure.ok()) report_.first_failure = call.status;
}

// In a closed loop each response sends the next call with the same LoadCall, so
// that their number stays what it was at the start.
void LoadRun::OnResponse(LoadCall& call) {
  Count(call);
  --num_in_flight_;
  const Clock::time_point now = Clock::now();
  if (options_.rate == 0 && !Over(now)) {
    Send(now, call);
  } else {
    // With a rate, KeepRate sets all_sent_, since it may send more calls after
    // this response.
    all_sent_ = all_sent_ || options_.rate == 0;
    const MutexLock lock(mutex_);
    idle_.push_back(&call);
  }
}

// The timeout lets a run without responses, of a server that hangs, notice
// Ctrl-C.
void LoadRun::HandleEvent() {
  void* tag = nullptr;
  bool ok = false;
  const auto next = queue_.AsyncNext(
      &tag, &ok, std::chrono::system_clock::now() + kPollInterval);
  if (next == grpc::CompletionQueue::GOT_EVENT) {
    static_cast<LoadEvent*>(tag)->Handle(ok);
  }
}

void LoadRun::HandleResponses() {
  std::optional<ProgressBar> bar;
  if (options_.show_progress) {
    bar.emplace("load",
                static_cast<std::int64_t>(
                    options_.rate * absl::ToDoubleSeconds(options_.duration)),
                "calls");
  }
  // In a closed loop this thread sends, and sends nothing after Ctrl-C.
  const bool sends_here = options_.rate == 0;
  bool cancelled = false;
  while (!all_sent_ || num_in_flight_ > 0) {
    HandleEvent();
    if (Interrupted() && (all_sent_ || sends_here) &&
        !std::exchange(cancelled, true)) {
      CancelCalls();
    }
    // With what was due but is never sent, so that the bar ends at 100 %.
    if (bar.has_value()) {
      bar->Update(num_counted_ + (all_sent_ ? num_unsent_ : 0));
    }
  }
}

void LoadRun::CancelCalls() {
  for (const auto& connection : connections_) connection->Cancel();
}

// A completion queue must be empty of pending operations before it is shut
// down.
void LoadRun::CloseConnections() {
  for (const auto& connection : connections_) connection->Close();
  for (const auto& connection : connections_) {
    while (!connection->is_closed()) HandleEvent();
  }
  queue_.Shutdown();
}

LoadReport LoadRun::Run() {
  begin_ = Clock::now() + ToClock(options_.warmup);
  end_ = begin_ + ToClock(options_.duration);
  std::thread sender;
  if (options_.rate > 0) {
    sender = std::thread([this] { KeepRate(); });
  } else {
    while (LoadCall* const call = TakeIdle()) {
      Send(Clock::now(), *call);
      if (Interrupted()) break;
    }
  }
  HandleResponses();
  if (sender.joinable()) sender.join();
  CloseConnections();
  // Not the time of the last response: with a rate, that comes before the end.
  report_.duration =
      Interrupted()
          ? std::max(absl::FromChrono(std::min(Clock::now(), end_) - begin_),
                     absl::ZeroDuration())
          : options_.duration;
  report_.num_late = num_late_;
  report_.num_unsent = num_unsent_;
  return std::move(report_);
}

}  // namespace

LoadRequests::LoadRequests(LoadRequestOptions options)
    : options_(WithTitles(std::move(options))),
      // A new word in each run, so that its titles are in no cache that an
      // earlier run filled.
      run_(
          absl::StrFormat("%x", absl::Uniform<std::uint64_t>(absl::BitGen()))) {
  request_.set_query(options_.query);
}

const v1::RankRequest& LoadRequests::Next() {
  // Clear keeps the memory of the strings for the next titles.
  request_.mutable_titles()->Clear();
  request_.mutable_ids()->Clear();
  for (int i = 0; i < options_.num_titles; ++i) {
    if (options_.num_ids == 0) {
      AddTitle();
    } else {
      request_.add_ids(num_candidates_sent_++ %
                       static_cast<std::uint64_t>(options_.num_ids));
    }
  }
  return request_;
}

void LoadRequests::AddTitle() {
  const std::uint64_t number = num_candidates_sent_++;
  std::string& title = *request_.add_titles();
  title = options_.titles[number % options_.titles.size()];
  if (options_.new_titles) {
    absl::StrAppend(&title, " ", run_, number);
  }
}

int MaxInflight(LoadRequests& requests) {
  // The first request stands for all: they have equally many titles.
  const std::size_t bytes = kCallBytes + 2 * requests.Next().ByteSizeLong();
  return static_cast<int>(
      std::clamp<std::size_t>(kMaxInflightBytes / bytes, 1, kMaxInflight));
}

absl::StatusOr<LoadReport> RunLoad(const ClientOptions& client,
                                   const LoadOptions& options,
                                   LoadRequests& requests) {
  SEMRANK_RETURN_IF_ERROR(CheckOptions(client));
  return LoadRun(client, options, requests).Run();
}

}  // namespace semrank
