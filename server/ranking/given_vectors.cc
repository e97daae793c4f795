#include "server/ranking/given_vectors.h"

#include <cmath>

namespace semrank {
namespace {

// A unit vector rounded to float32 is off by less than 2^-23 in length.
constexpr double kUnitLengthTolerance = 1e-6;

// The other side's numbers are sums of weights that are at most 1e6
// (model/format/FORMAT.md).
constexpr float kLargestValue = 1e15f;

}  // namespace

bool ScaleToUnitLength(std::span<float> vector) {
  // In double, where squares of floats neither overflow nor vanish.
  double length_squared = 0;
  for (const float value : vector) length_squared += double{value} * value;
  if (!std::isfinite(length_squared)) return false;
  const double length = std::sqrt(length_squared);
  if (length == 0 || std::abs(length - 1) <= kUnitLengthTolerance) return true;
  for (float& value : vector) {
    value = static_cast<float>(double{value} / length);
  }
  return true;
}

bool HasUsableValues(std::span<const float> vector) {
  for (const float value : vector) {
    // Written so that NaN fails.
    if (!(std::abs(value) <= kLargestValue)) return false;
  }
  return true;
}

}  // namespace semrank
