#include "model/base/simd_level.h"

#include <hwy/targets.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace semrank {
namespace {

std::string_view LevelOf(std::int64_t target) {
  switch (target) {
    case HWY_AVX3_DL:
    case HWY_AVX3:
      return "v4";
    case HWY_AVX2:
      return "v3";
    case HWY_SSE4:
      return "v2";
    case HWY_NEON:
      return "neon";
    default:
      return "v1";
  }
}

// Targets of Highway that the kernels were compiled for and the processor has,
// best first.
const std::vector<std::int64_t>& ProcessorTargets() {
  // Highway reports the targets that are not disabled, so this is read first.
  static const std::vector<std::int64_t> targets =
      hwy::SupportedAndGeneratedTargets();
  return targets;
}

}  // namespace

std::string_view SimdLevel() {
  return LevelOf(hwy::SupportedAndGeneratedTargets().front());
}

std::vector<std::string_view> SupportedSimdLevels() {
  std::vector<std::string_view> levels;
  for (const std::int64_t target : ProcessorTargets()) {
    levels.push_back(LevelOf(target));
  }
  return levels;
}

absl::Status UseSimdLevel(std::string_view name) {
  for (const std::int64_t target : ProcessorTargets()) {
    if (LevelOf(target) != name) continue;
    // Better targets are lower bits.
    hwy::DisableTargets(target - 1);
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "SEMRANK_SIMD is \"%s\"; this processor has %s", name,
      absl::StrJoin(SupportedSimdLevels(), ", ",
                    [](std::string* out, std::string_view level) {
                      out->append(level);
                    })));
}

absl::Status UseSimdLevelOfEnvironment() {
  const char* const name = std::getenv("SEMRANK_SIMD");
  if (name == nullptr || *name == '\0') return absl::OkStatus();
  return UseSimdLevel(name);
}

}  // namespace semrank
