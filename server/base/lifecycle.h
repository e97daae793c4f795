// Where the process is in its life; the one thing that readiness, health and
// the calls agree on. States only move forward.
//
//   Threads  every method, from any thread.
#ifndef SEMRANK_SERVER_BASE_LIFECYCLE_H_
#define SEMRANK_SERVER_BASE_LIFECYCLE_H_

#include <atomic>
#include <string_view>

#include "absl/status/status.h"

namespace semrank {

class Lifecycle {
 public:
  enum class State {
    kLoading,   // not ready yet: calls that need a model are UNAVAILABLE
    kServing,   // ready
    kDraining,  // not ready any more, but calls that still come are served
    kStopping,  // calls that still come are UNAVAILABLE
    kEnding,    // and those that still run are cancelled
  };

  State state() const { return state_.load(std::memory_order_acquire); }

  // Moves to `state` unless it is there or further already.
  void Advance(State state) {
    State now = state_.load();
    while (now < state && !state_.compare_exchange_weak(now, state)) {
    }
  }

  bool ready() const { return state() == State::kServing; }

  // For people: "serving", or why not.
  static std::string_view Description(State state);

  // What a server that stops answers: Unavailable, DRAINING.
  static absl::Status DrainingError();

  // Unavailable while calls cannot be answered.
  absl::Status CheckAnswering() const;
  // The same for calls that need no model.
  absl::Status CheckNotStopping() const {
    return state() >= State::kStopping ? DrainingError() : absl::OkStatus();
  }

 private:
  std::atomic<State> state_{State::kLoading};
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_LIFECYCLE_H_
