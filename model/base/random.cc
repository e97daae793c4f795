#include "model/base/random.h"

#include <cassert>

namespace semrank {
namespace {

// SplitMix64: the state grows by 2^64 / (golden ratio), which is odd, so that
// it visits every value once in 2^64 steps. Mix spreads each bit of it over
// all 64.
constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;

std::uint64_t Mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

// Mixes after each number, so that streams do not begin near each other on the
// generator's single cycle.
Random::Random(std::uint64_t seed, RandomPurpose purpose, std::uint64_t index,
               std::uint64_t part)
    : state_(Mix(seed + kGolden)) {
  for (const std::uint64_t value :
       {static_cast<std::uint64_t>(purpose), index, part}) {
    state_ = Mix(state_ + kGolden * (value + 1));
  }
}

std::uint64_t Random::Next() {
  state_ += kGolden;
  return Mix(state_);
}

// Lemire's method: the high half of the product is the number. The few low
// halves that would favour some numbers are rejected.
std::uint32_t Random::Below(std::uint32_t bound) {
  assert(bound > 0);
  const std::uint32_t first_fair = (0u - bound) % bound;
  for (;;) {
    const std::uint64_t product = (Next() >> 32) * bound;
    if (static_cast<std::uint32_t>(product) >= first_fair) {
      return static_cast<std::uint32_t>(product >> 32);
    }
  }
}

float Random::Between(float low, float high) {
  // 24 bits are what the significand of a float holds: every value is exact and
  // none is rounded up to 1.
  const float unit = static_cast<float>(Next() >> 40) * 0x1p-24f;
  return low + (high - low) * unit;
}

}  // namespace semrank
