// Linked into a test program or benchmark, runs it at the level that the
// environment's SEMRANK_SIMD names. ctest counts a level that the processor
// does not have as skipped.
#include <cstdlib>
#include <iostream>

#include "model/base/simd_level.h"

namespace semrank {
namespace {

constexpr int kSkipped = 77;

[[maybe_unused]] const bool kUsed = [] {
  const absl::Status status = UseSimdLevelOfEnvironment();
  if (status.ok()) return true;
  std::cerr << status << "\n";
  std::exit(kSkipped);
}();

}  // namespace
}  // namespace semrank
