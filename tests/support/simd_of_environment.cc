// A test program or benchmark that links this file runs at the level that the
// environment variable SEMRANK_SIMD names. ctest skips a level that the
// processor does not have.
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
