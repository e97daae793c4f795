#include "model/base/interrupt.h"

#include <signal.h>

#include <atomic>

namespace semrank {
namespace {

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free,
              "a signal handler may only touch lock-free atomics");

void OnSignal(int signal_number) {
  if (!interrupted.exchange(true)) return;
  // The kernel and the shell each send a hangup when a terminal goes away.
  if (signal_number == SIGHUP) return;
  // The system's default action ends the process once this handler returns, so
  // that the parent sees which signal it was.
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

}  // namespace

void CatchInterrupts(std::initializer_list<int> also) {
  interrupted = false;
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  // Without this flag system calls of any library could fail with EINTR.
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // nohup starts programs that ignore hangups, which they are to keep doing.
  struct sigaction hangup = {};
  sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
  for (const int signal_number : also) {
    sigaction(signal_number, &action, nullptr);
  }
}

void Interrupt() { interrupted = true; }

// Relaxed is enough: the flag guards no other memory, and a loop that sees it a
// step later stops all the same.
bool Interrupted() { return interrupted.load(std::memory_order_relaxed); }

}  // namespace semrank
