#include "server/base/request_costs.h"

#include <algorithm>
#include <bit>

namespace semrank {
namespace {

// An exponential moving average. A weight of 1/8 follows a change of load
// within some twenty requests. A new value counts as at most twice the mean: a
// thread that was not scheduled for 100 ms says nothing about the cost, and
// must not make the server refuse what it has time for.
constexpr float kWeight = 1.0F / 8;
constexpr float kMaxRise = 2;

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

void RequestCosts::Record(RequestKind kind, std::int64_t num_texts,
                          absl::Duration time) {
  Mean& mean =
      means_[static_cast<std::size_t>(kind)][SizeOf(num_texts, kNumSizes)];
  // Nanoseconds a text. At least 1, because 0 means that nothing was measured
  // yet.
  const float value =
      std::max(1.0F, static_cast<float>(absl::ToDoubleNanoseconds(time)) /
                         static_cast<float>(AtLeastOne(num_texts)));
  // Load and store are apart: of two concurrent updates one may be lost, which
  // a mean survives. Relaxed, since no other memory depends on the value.
  const float before = mean.load(std::memory_order_relaxed);
  const float counted = std::min(value, kMaxRise * before);
  // The first measurement replaces the guess as it is; kMaxRise of 0 would be
  // 0.
  mean.store(before == 0 ? value : before + (counted - before) * kWeight,
             std::memory_order_relaxed);
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
