#include "client/load/load.h"

#include <grpcpp/completion_queue.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "client/lib/connection.h"
#include "client/load/load_lane.h"
#include "model/base/mutex.h"
#include "model/base/status_macros.h"
#include "model/cli/interrupt.h"
#include "model/cli/progress.h"

namespace semrank {
namespace {

using Clock = std::chrono::steady_clock;

constexpr absl::Duration kLate = absl::Milliseconds(1);
constexpr std::chrono::milliseconds kLookAround(50);

Clock::duration ToClock(absl::Duration duration) {
  return absl::ToChronoNanoseconds(duration);
}

// One thread sends, one takes answers; with calls in flight they are the same.
class LoadRun {
 public:
  LoadRun(const ClientOptions& client, const LoadOptions& options,
          LoadRequests& requests)
      : options_(options), requests_(requests) {
    const auto answered = [this](LoadCall& call) { Answered(call); };
    const absl::Time end =
        absl::Now() + options.warmup + options.duration + client.deadline;
    for (int i = 0; i < options.connections; ++i) {
      lanes_.push_back(
          options.stream ? LoadLane::OfOneStream(client, &queue_, answered, end)
                         : LoadLane::OfCalls(client, &queue_, answered));
    }
  }

  LoadReport Run();

 private:
  bool Over(Clock::time_point now) const {
    return now >= end_ || Interrupted();
  }
  // An idle call, or null while as many as may be are in flight.
  LoadCall* TakeIdle();
  void Send(Clock::time_point due, LoadCall& call);
  void KeepRate();
  // Takes answers until the last one is in.
  void TakeAnswers();
  // Waits a little for the next event, and handles it.
  void HandleEvent();
  void Answered(LoadCall& call);
  void Count(const LoadCall& call);
  void CloseLanes();

  const LoadOptions options_;
  LoadRequests& requests_;
  grpc::CompletionQueue queue_;
  std::vector<std::unique_ptr<LoadLane>> lanes_;
  std::size_t next_lane_ = 0;
  Clock::time_point begin_, end_;  // of what is measured
  std::atomic<std::int64_t> num_in_flight_ = 0;
  std::atomic<bool> all_sent_ = false;
  std::int64_t num_late_ = 0, num_unsent_ = 0;
  LoadReport report_;

  Mutex mutex_;
  std::deque<LoadCall> calls_ ABSL_GUARDED_BY(mutex_);
  std::vector<LoadCall*> idle_ ABSL_GUARDED_BY(mutex_);
};

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
  ++num_in_flight_;
  lanes_[next_lane_++ % lanes_.size()]->Send(requests_.Next(), call);
}

void LoadRun::KeepRate() {
  const Clock::time_point start = begin_ - ToClock(options_.warmup);
  const std::chrono::duration<double> interval(1 / options_.rate);
  for (std::int64_t i = 0;; ++i) {
    const auto due = start + std::chrono::duration_cast<Clock::duration>(
                                 interval * static_cast<double>(i));
    if (Over(due)) break;
    std::this_thread::sleep_until(due);
    LoadCall* call = TakeIdle();
    while (call == nullptr && !Over(Clock::now())) {
      absl::SleepFor(kLate / 2);
      call = TakeIdle();
    }
    if (call == nullptr || Over(Clock::now())) {
      const std::chrono::duration<double> left = end_ - std::max(due, begin_);
      num_unsent_ = std::llround(left / interval);
      break;
    }
    if (absl::FromChrono(Clock::now() - due) > kLate && due >= begin_) {
      ++num_late_;
    }
    Send(due, *call);
  }
  all_sent_ = true;
}

void LoadRun::Count(const LoadCall& call) {
  const Clock::time_point now = Clock::now();
  const bool has_rate = options_.rate > 0;
  const bool counts =
      has_rate ? call.due >= begin_ : now >= begin_ && now <= end_;
  if (!counts) return;
  if (call.status.ok()) {
    report_.latencies.Record(absl::FromChrono(now - call.due));
    return;
  }
  ++report_.num_failed[call.status.code()];
  if (report_.first_failure.ok()) report_.first_failure = call.status;
}

void LoadRun::Answered(LoadCall& call) {
  Count(call);
  --num_in_flight_;
  const Clock::time_point now = Clock::now();
  if (options_.rate == 0 && !Over(now)) {
    Send(now, call);
  } else {
    all_sent_ = all_sent_ || options_.rate == 0;
    const MutexLock lock(mutex_);
    idle_.push_back(&call);
  }
}

void LoadRun::HandleEvent() {
  void* tag = nullptr;
  bool ok = false;
  const auto next = queue_.AsyncNext(
      &tag, &ok, std::chrono::system_clock::now() + kLookAround);
  if (next == grpc::CompletionQueue::GOT_EVENT) {
    static_cast<LoadEvent*>(tag)->Handle(ok);
  }
}

void LoadRun::TakeAnswers() {
  std::optional<ProgressBar> bar;
  if (options_.show_progress) {
    bar.emplace("load",
                static_cast<std::int64_t>(
                    options_.rate * absl::ToDoubleSeconds(options_.duration)),
                "calls");
  }
  while (!all_sent_ || num_in_flight_ > 0) {
    HandleEvent();
    if (bar.has_value()) bar->Update(report_.latencies.count());
  }
}

void LoadRun::CloseLanes() {
  for (const auto& lane : lanes_) lane->Close();
  for (const auto& lane : lanes_) {
    while (!lane->is_closed()) HandleEvent();
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
    while (LoadCall* const call = TakeIdle()) Send(Clock::now(), *call);
  }
  TakeAnswers();
  if (sender.joinable()) sender.join();
  CloseLanes();
  // The last call of a rate is due, and may be answered, before the end.
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

absl::StatusOr<LoadReport> RunLoad(const ClientOptions& client,
                                   const LoadOptions& options,
                                   LoadRequests& requests) {
  SEMRANK_RETURN_IF_ERROR(CheckOptions(client));
  return LoadRun(client, options, requests).Run();
}

}  // namespace semrank
