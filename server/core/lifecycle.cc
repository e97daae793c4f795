#include "server/core/lifecycle.h"

#include "server/core/errors.h"

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

absl::Status Lifecycle::DrainingError() {
  return MakeError(absl::StatusCode::kUnavailable, "DRAINING",
                   Description(State::kStopping));
}

absl::Status Lifecycle::CheckAnswering() const {
  const State now = state();
  switch (now) {
    case State::kLoading:
      return MakeError(absl::StatusCode::kUnavailable, "MODEL_LOADING",
                       Description(now));
    case State::kStopping:
    case State::kEnding:
      return DrainingError();
    case State::kServing:
    case State::kDraining:
      break;
  }
  return absl::OkStatus();
}

}  // namespace semrank
