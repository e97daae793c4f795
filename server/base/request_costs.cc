#include "server/base/request_costs.h"

#include <algorithm>
#include <bit>

namespace semrank {
namespace {

// The weight of a new measurement, and the most that it counts in multiples of
// the mean: a thread that was not scheduled for 100 ms says nothing about the
// cost, and must not make the server refuse what it has time for.
constexpr float kWeight = 1.0F / 8;
constexpr float kMaxRise = 2;

std::int64_t AtLeastOne(std::int64_t num_texts) {
  return std::max<std::int64_t>(num_texts, 1);
}

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
  const float value =
      std::max(1.0F, static_cast<float>(absl::ToDoubleNanoseconds(time)) /
                         static_cast<float>(AtLeastOne(num_texts)));
  const float before = mean.load(std::memory_order_relaxed);
  const float counted = std::min(value, kMaxRise * before);
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
