#include "model/train/towers/dropout.h"

#include <cstddef>

#include "model/base/random.h"

namespace semrank {
namespace {

// A tower has fewer layers, so each (place, layer) has its own number.
constexpr std::uint64_t kLayers = 64;

}  // namespace

void Dropout::Apply(const HiddenRow& row, std::span<float> units,
                    std::span<std::uint8_t> kept) const {
  Random random(seed_, RandomPurpose::kDropout, step_,
                row.place * kLayers + row.layer);
  // A unit is kept if its 32 random bits, as a number, are at least p 2^32.
  const double threshold = share_ * 0x1p32;
  const float factor = static_cast<float>(1 / (1 - share_));
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    // A number of 64 bits serves two units.
    bits = i % 2 == 0 ? random.Next() : bits >> 32;
    kept[i] = static_cast<double>(bits & 0xffffffff) >= threshold;
    units[i] = kept[i] ? units[i] * factor : 0;
  }
}

void Dropout::BackwardThroughTanh(std::span<const float> units,
                                  std::span<const std::uint8_t> kept,
                                  std::span<float> deltas) const {
  const float keep_share = static_cast<float>(1 - share_);
  const float factor = static_cast<float>(1 / (1 - share_));
  for (std::size_t i = 0; i < units.size(); ++i) {
    // Apply has divided kept units by 1 - p; tanh' needs l as it was before.
    const float l = units[i] * keep_share;
    deltas[i] = kept[i] ? deltas[i] * factor * (1 - l) * (1 + l) : 0;
  }
}

}  // namespace semrank
