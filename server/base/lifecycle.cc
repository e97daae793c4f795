#include "server/base/lifecycle.h"

#include "server/base/errors.h"

namespace semrank {

std::string_view Lifecycle::Description(State state) {
  switch (state) {
    case State::kLoading:
      return "no model is loaded yet";
    case State::kServing:
      return "serving";
    case State::kDraining:
    case State::kStopping:
    case State::kEnding:
      return "the server is draining";
  }
  return "";
}

// Clients and load balancers retry UNAVAILABLE at another server.
absl::Status Lifecycle::DrainingError() {
  return MakeError(absl::StatusCode::kUnavailable, "DRAINING",
                   Description(State::kStopping));
}

absl::Status Lifecycle::CheckAnswering() const {
  if (state() != State::kLoading) return CheckNotStopping();
  return MakeError(absl::StatusCode::kUnavailable, "MODEL_LOADING",
                   Description(State::kLoading));
}

}  // namespace semrank
