// A caller that cancels its call after a number of questions whether it still
// waits.
#ifndef SEMRANK_TESTS_SUPPORT_FAKE_CALLER_H_
#define SEMRANK_TESTS_SUPPORT_FAKE_CALLER_H_

#include <limits>

#include "server/base/caller.h"

namespace semrank {

class FakeCaller final : public Caller {
 public:
  FakeCaller() = default;
  static FakeCaller GoneAfter(int num_questions) {
    FakeCaller caller;
    caller.num_questions_left_ = num_questions;
    return caller;
  }
  static FakeCaller WithDeadline(absl::Time deadline) {
    FakeCaller caller;
    caller.deadline_ = deadline;
    return caller;
  }

  absl::Time deadline() const override { return deadline_; }
  bool cancelled() const override { return num_questions_left_-- <= 0; }

 private:
  absl::Time deadline_ = absl::InfiniteFuture();
  mutable int num_questions_left_ = std::numeric_limits<int>::max();
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_SUPPORT_FAKE_CALLER_H_
