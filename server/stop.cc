#include "server/stop.h"

#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

namespace semrank {
namespace {

sigset_t StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

sigset_t AllSignals() {
  sigset_t signals = StopSignals();
  sigaddset(&signals, SIGHUP);
  return signals;
}

// The default action of both is to end the process.
int LetNextOneKill(int signal_number) {
  const sigset_t signals = StopSignals();
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  return signal_number;
}

}  // namespace

void BlockSignals() {
  const sigset_t signals = AllSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

int WaitForStopSignal(const std::function<void()>& on_hangup) {
  const sigset_t signals = AllSignals();
  int signal_number = 0;
  while (sigwait(&signals, &signal_number) != 0 || signal_number == SIGHUP) {
    if (signal_number == SIGHUP) on_hangup();
  }
  return LetNextOneKill(signal_number);
}

std::optional<int> WaitForStopSignalFor(absl::Duration time) {
  const sigset_t signals = AllSignals();
  const timespec limit = absl::ToTimespec(time);
  const int signal_number = sigtimedwait(&signals, nullptr, &limit);
  if (signal_number < 0 || signal_number == SIGHUP) return std::nullopt;
  return LetNextOneKill(signal_number);
}

Watchdog::Watchdog(absl::Duration limit)
    : thread_([this, limit] {
        std::unique_lock lock(mutex_);
        if (stopped_or_late_.wait_for(lock, absl::ToChronoNanoseconds(limit),
                                      [this] { return stopped_; })) {
          return;
        }
        spdlog::critical("still not stopped after {}: giving up",
                         absl::FormatDuration(limit));
        _exit(1);
      }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  stopped_or_late_.notify_all();
  thread_.join();
}

}  // namespace semrank
