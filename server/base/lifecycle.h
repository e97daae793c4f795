// The state of the server, on which readiness, health and calls agree. States
// only move forward.
//
//   Threads  thread-safe.
#ifndef SEMRANK_SERVER_BASE_LIFECYCLE_H_
#define SEMRANK_SERVER_BASE_LIFECYCLE_H_

#include <atomic>
#include <string_view>

#include "absl/status/status.h"

namespace semrank {

class Lifecycle {
 public:
  enum class State {
    kLoading,   // not ready: calls that need a model are UNAVAILABLE
    kServing,   // ready, until a signal stops the server
    kDraining,  // not ready, but new calls are answered for --drain_delay
    kStopping,  // new calls are UNAVAILABLE; calls in flight may end
    kEnding,    // calls in flight are cancelled
  };

  State state() const { return state_.load(std::memory_order_acquire); }

  // Moves forward to `state`; an earlier state changes nothing.
  void Advance(State state) {
    State now = state_.load();
    while (now < state && !state_.compare_exchange_weak(now, state)) {
    }
  }

  bool ready() const { return state() == State::kServing; }

  // Human-readable: "serving", or why the server does not serve.
  static std::string_view Description(State state);

  // The response of a server that stops: Unavailable, DRAINING.
  static absl::Status DrainingError();

  // Unavailable in a state in which calls are not answered.
  absl::Status CheckAnswering() const;
  // As CheckAnswering, for calls that need no model.
  absl::Status CheckNotStopping() const {
    return state() >= State::kStopping ? DrainingError() : absl::OkStatus();
  }

 private:
  std::atomic<State> state_{State::kLoading};
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_LIFECYCLE_H_
