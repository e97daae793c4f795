// How long the phases of a request take.
#ifndef SEMRANK_SERVER_BASE_PHASE_TIMES_H_
#define SEMRANK_SERVER_BASE_PHASE_TIMES_H_

#include <array>
#include <chrono>
#include <utility>

#include "absl/time/time.h"

namespace semrank {

// What the time of a request is spent on. Timings in the API have the same
// phases, except that they count reading (counting, admitting and decoding a
// message or its JSON) as parsing (normalising texts).
enum class Phase { kQueue, kRead, kParse, kCache, kEmbed, kScore, kSerialize };
inline constexpr int kNumPhases = 7;

struct PhaseTimes {
  std::array<absl::Duration, kNumPhases> times{};

  absl::Duration& operator[](Phase phase) {
    return times[static_cast<int>(phase)];
  }
  absl::Duration operator[](Phase phase) const {
    return times[static_cast<int>(phase)];
  }
};

// Measures on a clock that never jumps.
class Stopwatch {
 public:
  // Time since construction or the last Lap.
  absl::Duration Lap() {
    const auto now = std::chrono::steady_clock::now();
    return absl::FromChrono(now - std::exchange(last_, now));
  }

 private:
  std::chrono::steady_clock::time_point last_ =
      std::chrono::steady_clock::now();
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_PHASE_TIMES_H_
