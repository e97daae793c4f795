#include "server/base/admission.h"

#include "absl/strings/str_format.h"
#include "server/base/errors.h"

namespace semrank {

// Checks and takes in one compare-and-swap. With a check and an add apart, two
// requests could both pass the check and exceed the limit together.
absl::StatusOr<Admission::Permit> Admission::Admit(std::int64_t num_texts) {
  if (!inflight_texts_.RaiseWithin(num_texts, max_inflight_texts_)) {
    return DoNotFit(num_texts, inflight_texts());
  }
  return Permit(this, num_texts);
}

// Only a hint: the level may change before Admit, which decides. It spares a
// full server from reading messages that it would refuse anyway.
absl::Status Admission::CheckRoom() const {
  const std::int64_t inflight = inflight_texts();
  if (inflight < max_inflight_texts_) return absl::OkStatus();
  return DoNotFit(1, inflight);
}

absl::Status Admission::DoNotFit(std::int64_t num_texts,
                                 std::int64_t inflight) const {
  return Overloaded(
      absl::StrFormat("%d texts do not fit beside the %d in flight; the limit "
                      "is %d (--max_inflight_texts)",
                      num_texts, inflight, max_inflight_texts_),
      LimitValues(num_texts, max_inflight_texts_, "max_inflight_texts"));
}

}  // namespace semrank
