#include "server/rpc/leaving_answers.h"

#include <grpc/grpc.h>

#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "server/base/admission.h"
#include "server/base/errors.h"

namespace semrank {
namespace {

constexpr std::int64_t kBytesPerAnswerTime = std::int64_t{16} << 20;

}  // namespace

absl::Status LeavingAnswers::CheckRoom() {
  std::int64_t num_bytes = 0;
  {
    const MutexLock lock(mutex_);
    num_bytes = num_bytes_;
  }
  if (num_bytes < max_bytes_) return absl::OkStatus();
  return MakeError(
      absl::StatusCode::kResourceExhausted, "OVERLOADED",
      absl::StrFormat(
          "%d bytes of answers wait for clients to take them; the "
          "limit is %d (--max_inflight_texts vectors of %d numbers)",
          num_bytes, max_bytes_, kSizedEmbeddingDim),
      {{"value", std::to_string(num_bytes)},
       {"limit", std::to_string(max_bytes_)},
       {"flag", "max_inflight_texts"},
       {"retry_delay_ms",
        std::to_string(absl::ToInt64Milliseconds(Admission::kRetryDelay))}});
}

void LeavingAnswers::Add(grpc_call* call, std::int64_t num_bytes) {
  const auto pieces = static_cast<double>(num_bytes / kBytesPerAnswerTime + 1);
  const absl::Time limit = absl::Now() + answer_time_ * pieces;
  const MutexLock lock(mutex_);
  answers_[call] = {.num_bytes = num_bytes, .limit = limit};
  num_bytes_ += num_bytes;
}

void LeavingAnswers::Grow(grpc_call* call, std::int64_t num_bytes) {
  const MutexLock lock(mutex_);
  const auto answer = answers_.find(call);
  if (answer == answers_.end()) return;
  answer->second.num_bytes += num_bytes;
  num_bytes_ += num_bytes;
}

void LeavingAnswers::Remove(grpc_call* call) {
  const MutexLock lock(mutex_);
  const auto answer = answers_.find(call);
  if (answer == answers_.end()) return;
  num_bytes_ -= answer->second.num_bytes;
  answers_.erase(answer);
}

int LeavingAnswers::CancelOverdue(absl::Time now) {
  std::vector<grpc_call*> overdue;
  {
    const MutexLock lock(mutex_);
    for (auto& [call, answer] : answers_) {
      if (answer.is_cancelled || answer.limit > now) continue;
      answer.is_cancelled = true;
      grpc_call_ref(call);
      overdue.push_back(call);
    }
  }
  // Without the mutex: to cancel a call may remove it.
  for (grpc_call* const call : overdue) {
    grpc_call_cancel_with_status(call, GRPC_STATUS_CANCELLED,
                                 "the answer was not taken in time", nullptr);
    grpc_call_unref(call);
  }
  return static_cast<int>(overdue.size());
}

}  // namespace semrank
