#include "server/stop.h"

#include <signal.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "model/base/interrupt.h"
#include "server/base/logging.h"

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

// Blocked signals wait until a thread calls sigwait. A handler could interrupt
// any thread anywhere, where almost nothing may be called.
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

StartSignals::StartSignals() : thread_([this] { Run(); }) {}

StartSignals::~StartSignals() { End(); }

bool StartSignals::stop_requested() const {
  const std::lock_guard lock(mutex_);
  return stop_requested_;
}

bool StartSignals::WaitForStop(absl::Duration time) {
  std::unique_lock lock(mutex_);
  heard_.wait_for(lock, absl::ToChronoNanoseconds(time),
                  [this] { return stop_requested_ || hangup_; });
  hangup_ = false;
  return stop_requested_;
}

// The thread must be gone before WaitForStopSignal: of two threads in sigwait
// either one may get a signal.
bool StartSignals::End() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    heard_.notify_all();
    // Wakes it from sigwait; another thread never hears this one.
    pthread_kill(thread_.native_handle(), SIGHUP);
    thread_.join();
  }
  return stop_requested();
}

void StartSignals::Run() {
  const sigset_t signals = AllSignals();
  for (;;) {
    int signal_number = 0;
    const bool heard = sigwait(&signals, &signal_number) == 0;
    std::unique_lock lock(mutex_);
    // End's SIGHUP comes here too; ended_ tells it from an operator's.
    stop_requested_ = heard && signal_number != SIGHUP;
    hangup_ = heard && !stop_requested_;
    heard_.notify_all();
    if (ended_) return;
    if (!stop_requested_) continue;
    Interrupt();  // ends the reading of a --warm_catalog that is a pipe
    LetNextOneKill(signal_number);
    // The next one kills as long as this thread is there to hear it. A SIGHUP
    // stays blocked.
    heard_.wait(lock, [this] { return ended_; });
    return;
  }
}

Watchdog::Watchdog(absl::Duration limit)
    : thread_([this, limit] {
        std::unique_lock lock(mutex_);
        if (stopped_or_late_.wait_for(lock, absl::ToChronoNanoseconds(limit),
                                      [this] { return stopped_; })) {
          return;
        }
        Log(LogLevel::kCritical,
            absl::StrCat("still not stopped after ",
                         absl::FormatDuration(limit), ": giving up"));
        // Not exit: it would run destructors, which may be what hangs.
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
