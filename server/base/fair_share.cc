#include "server/base/fair_share.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "model/base/strings.h"
#include "server/base/errors.h"

namespace semrank {

// With capacity C and share s, a caller that holds something may hold up to s
// (C - what the others hold). When n callers all hold as much as they may, each
// has s C / (1 + s (n - 1)): for s = 1/2 that is C / (n + 1), and as much stays
// free for one more.

bool FairShare::Take(std::string_view caller, std::int64_t amount) {
  if (!counts(caller)) return true;
  const MutexLock lock(mutex_);
  const std::int64_t held = HeldLocked(caller);
  // An amount of 0 always fits, and leaves no entry.
  if (amount > 0 && held + amount > LimitLocked(held)) return false;
  if (amount == 0) return true;
  total_ += amount;
  held_[ToAbsl(caller)] += amount;
  return true;
}

void FairShare::Return(std::string_view caller, std::int64_t amount) {
  if (!counts(caller) || amount == 0) return;
  const MutexLock lock(mutex_);
  const auto found = held_.find(ToAbsl(caller));
  total_ -= amount;
  found->second -= amount;
  // The table holds only callers that are there, however many have been.
  if (found->second == 0) held_.erase(found);
}

absl::Status FairShare::Check(std::string_view caller) const {
  if (!counts(caller)) return absl::OkStatus();
  {
    const MutexLock lock(mutex_);
    const std::int64_t held = HeldLocked(caller);
    if (held < LimitLocked(held)) return absl::OkStatus();
  }
  return OverShare(caller, 1);
}

absl::Status FairShare::OverShare(std::string_view caller,
                                  std::int64_t amount) const {
  // The numbers only inform the reader of the error. They are read now and may
  // differ from those that Take used.
  std::int64_t held = 0;
  std::int64_t limit = 0;
  {
    const MutexLock lock(mutex_);
    held = HeldLocked(caller);
    limit = LimitLocked(held);
  }
  return CallerShareError(
      absl::StrFormat("this caller's number of %s would rise to %d; the limit "
                      "is %d, its share (--max_share_per_caller) of what other "
                      "callers leave free; retry in %d ms",
                      unit_, held + amount, limit,
                      absl::ToInt64Milliseconds(kRetryDelay)),
      LimitValues(held + amount, limit, "max_share_per_caller"));
}

std::int64_t FairShare::held_by(std::string_view caller) const {
  const MutexLock lock(mutex_);
  return HeldLocked(caller);
}

bool FairShare::others_hold(std::string_view caller) const {
  const MutexLock lock(mutex_);
  return total_ > HeldLocked(caller);
}

std::int64_t FairShare::HeldLocked(std::string_view caller) const {
  const auto found = held_.find(ToAbsl(caller));
  return found == held_.end() ? 0 : found->second;
}

std::int64_t FairShare::LimitLocked(std::int64_t held) const {
  const std::int64_t left_by_others = capacity_ - (total_ - held);
  if (held == 0) return left_by_others;
  return static_cast<std::int64_t>(max_share_ *
                                   static_cast<double>(left_by_others));
}

HeldShare& HeldShare::operator=(HeldShare&& other) noexcept {
  if (this == &other) return *this;
  Reset();
  share_ = std::exchange(other.share_, nullptr);
  caller_ = std::move(other.caller_);
  amount_ = other.amount_;
  return *this;
}

bool HeldShare::Take(FairShare& share, std::string_view caller,
                     std::int64_t amount) {
  Reset();
  if (!share.Take(caller, amount)) return false;
  share_ = &share;
  caller_ = caller;
  amount_ = amount;
  return true;
}

void HeldShare::Reset() {
  if (share_ == nullptr) return;
  std::exchange(share_, nullptr)->Return(caller_, amount_);
}

}  // namespace semrank
