#include "server/supervisor.h"

#include <signal.h>
#include <systemd/sd-daemon.h>

#include <cstdint>

#include "model/base/interrupt.h"

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

// A lost notification cannot be reported: systemd then acts as if the process
// had sent none.
void Notify(const std::string& state) {
  sd_notify(/*unset_environment=*/0, state.c_str());
}

}  // namespace

// Blocked signals wait until a thread calls sigwait. A handler could interrupt
// any thread anywhere, where almost nothing may be called.
void BlockSignals() {
  const sigset_t signals = AllSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

Signals::Signals() : thread_([this] { Run(); }) {}

Signals::~Signals() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  heard_.notify_all();
  // Wakes the thread from sigwait. The signal is sent to that thread alone.
  pthread_kill(thread_.native_handle(), SIGHUP);
  thread_.join();
}

bool Signals::stop_requested() const {
  const std::lock_guard lock(mutex_);
  return stop_signal_ != 0;
}

bool Signals::WaitFor(absl::Duration time) {
  std::unique_lock lock(mutex_);
  heard_.wait_for(lock, absl::ToChronoNanoseconds(time),
                  [this] { return stop_signal_ != 0 || hangup_; });
  hangup_ = false;
  return stop_signal_ != 0;
}

int Signals::WaitForStop(const std::function<void()>& on_hangup) {
  std::unique_lock lock(mutex_);
  for (;;) {
    heard_.wait(lock, [this] { return stop_signal_ != 0 || hangup_; });
    if (stop_signal_ != 0) return stop_signal_;
    hangup_ = false;
    // Without the lock, so that Run can note a stop during the reload.
    lock.unlock();
    on_hangup();
    lock.lock();
  }
}

void Signals::Run() {
  const sigset_t signals = AllSignals();
  for (;;) {
    int signal_number = 0;
    const bool heard = sigwait(&signals, &signal_number) == 0;
    std::unique_lock lock(mutex_);
    // The destructor sends SIGHUP too; ended_ distinguishes it from the
    // operator's.
    if (ended_) return;
    if (!heard) continue;
    if (signal_number == SIGHUP) {
      hangup_ = true;
    } else {
      stop_signal_ = signal_number;
    }
    heard_.notify_all();
    if (stop_signal_ == 0) continue;
    Interrupt();  // ends the reading of a --warm_catalog that is a pipe
    // The default action of both is to end the process: the next one does so,
    // as long as this thread exists and does not block it. SIGHUP stays
    // blocked.
    const sigset_t stop_signals = StopSignals();
    pthread_sigmask(SIG_UNBLOCK, &stop_signals, nullptr);
    heard_.wait(lock, [this] { return ended_; });
    return;
  }
}

void NotifyReady(const std::string& status) {
  Notify("READY=1\nSTATUS=" + status);
}

void NotifyStopping() { Notify("STOPPING=1\nSTATUS=draining"); }

absl::Duration ServiceWatchdogInterval() {
  std::uint64_t microseconds = 0;
  if (sd_watchdog_enabled(/*unset_environment=*/0, &microseconds) <= 0) {
    return absl::ZeroDuration();
  }
  // systemd advises half of its interval. A quarter leaves time for the
  // requests that precede the heartbeat in the queue of the worker pool.
  return absl::Microseconds(static_cast<std::int64_t>(microseconds)) / 4;
}

void NotifyAlive() { Notify("WATCHDOG=1"); }

}  // namespace semrank
