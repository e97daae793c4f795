#include "server/base/admission.h"

#include <bit>
#include <utility>

#include "absl/strings/str_format.h"
#include "server/base/errors.h"

namespace semrank {
namespace {

// An exponential moving average. A weight of 1/8 follows a change of load
// within some twenty requests. A new value counts as at most twice the mean: a
// thread that was not scheduled for 100 ms says nothing about the cost, and
// must not make the server refuse what it has time for.
constexpr float kWeight = 1.0F / 8;
constexpr float kMaxRise = 2;
// What the first value counts as at most, in first guesses: it may be that of
// such a thread, too, and no mean is known yet.
constexpr float kMaxFirst = 10;

std::int64_t AtLeastOne(std::int64_t num_texts) {
  return std::max<std::int64_t>(num_texts, 1);
}

// floor(log2(num_texts)): the cost of a text differs between 1 and 1,000 of
// them, since a request has fixed costs and large batches are faster.
std::size_t SizeOf(std::int64_t num_texts, std::size_t num_sizes) {
  const auto size = static_cast<std::size_t>(
      std::bit_width(static_cast<std::uint64_t>(AtLeastOne(num_texts))) - 1);
  return std::min(size, num_sizes - 1);
}

}  // namespace

// One compare-and-swap checks the limit and takes the permit. With a check and
// an addition apart, two requests could both pass the check and exceed the
// limit together. The share is taken before: what exceeds it must not take the
// room of other callers, even briefly.
absl::StatusOr<Admission::Permit> Admission::Admit(std::int64_t num_texts,
                                                   std::string_view caller) {
  // A request that never fits is refused whatever the caller's share.
  if (num_texts > max_inflight_texts_) {
    return DoNotFit(num_texts, inflight_texts());
  }
  HeldShare share;
  if (!share.Take(shares_, caller, num_texts)) {
    return shares_.OverShare(caller, num_texts);
  }
  if (!inflight_texts_.RaiseWithin(num_texts, max_inflight_texts_)) {
    return DoNotFit(num_texts, inflight_texts());
  }
  return Permit(this, {num_texts, std::move(share)});
}

// A hint: the level may change before Admit, which decides. It spares a full
// server from reading messages that it would refuse anyway.
absl::Status Admission::CheckRoom(std::string_view caller) const {
  const std::int64_t inflight = inflight_texts();
  if (inflight >= max_inflight_texts_) return DoNotFit(1, inflight);
  return shares_.Check(caller);
}

absl::Status Admission::DoNotFit(std::int64_t num_texts,
                                 std::int64_t inflight) const {
  return Overloaded(
      absl::StrFormat("%d texts do not fit beside the %d in flight; the limit "
                      "is %d (--max_inflight_texts)",
                      num_texts, inflight, max_inflight_texts_),
      LimitValues(num_texts, max_inflight_texts_, "max_inflight_texts"));
}

void RequestCosts::Record(RequestKind kind, std::int64_t num_texts,
                          absl::Duration time) {
  Mean& mean =
      means_[static_cast<std::size_t>(kind)][SizeOf(num_texts, kNumSizes)];
  // Nanoseconds a text; at least 1, because 0 means that nothing was measured
  // yet.
  const float value =
      std::max(1.0F, static_cast<float>(absl::ToDoubleNanoseconds(time)) /
                         static_cast<float>(AtLeastOne(num_texts)));
  // Load and store are apart: of two concurrent updates one may be lost, which
  // a mean survives. Relaxed order suffices, since no other memory depends on
  // the value.
  const float before = mean.load(std::memory_order_relaxed);
  if (before == 0) {
    const float guess = absl::ToDoubleNanoseconds(kFirstGuess);
    mean.store(std::min(value, kMaxFirst * guess), std::memory_order_relaxed);
    return;
  }
  const float counted = std::min(value, kMaxRise * before);
  mean.store(before + (counted - before) * kWeight, std::memory_order_relaxed);
}

absl::Duration RequestCosts::Estimate(RequestKind kind,
                                      std::int64_t num_texts) const {
  const float mean =
      means_[static_cast<std::size_t>(kind)][SizeOf(num_texts, kNumSizes)].load(
          std::memory_order_relaxed);
  const absl::Duration of_text =
      mean == 0 ? kFirstGuess : absl::Nanoseconds(mean);
  return of_text * AtLeastOne(num_texts);
}

}  // namespace semrank
