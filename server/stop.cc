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

}  // namespace

void BlockStopSignals() {
  const sigset_t signals = StopSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

int WaitForStopSignal() {
  const sigset_t signals = StopSignals();
  int signal_number = 0;
  sigwait(&signals, &signal_number);
  // The default action of both is to end the process.
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  return signal_number;
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
